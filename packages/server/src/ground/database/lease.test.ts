import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../core/text/ids.ts'
import { keepEvents, insertHead, agentMessage, tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { readEvents } from '../../sessions/log/log.ts'
import type { Database } from './database.ts'
import { everyShape } from './shapes-fixture.ts'
import type { Fence } from './lease.ts'
import { prolongHeads, claimHead, expireHead, leaseMs, releaseHead } from './lease.ts'

const none: readonly string[] = []

const claiming = (
  database: Database,
  session: string,
  { owner = 'proc_a', dead = none, now = 0 },
) => database.write((tx) => claimHead(tx, session, { owner, dead, now }))

const found = (fence: Fence | undefined): Fence => {
  assert.ok(fence)
  return fence
}

const fenced = (database: Database, session: string, fence: Fence, text: string) =>
  database.write((tx) =>
    appendEntries(tx, tenant, session, [{ event: agentMessage(text) }], { now: 0, fence }),
  )

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a lease on ${dialect}`, () => {
    it('is given to one of many who ask at once', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const owners = Array.from({ length: 8 }, (_, n) => `proc_${n}`)
      const claims = await Promise.all(
        owners.map((owner) => claiming(database, session, { owner })),
      )
      assert.equal(claims.filter(Boolean).length, 1)
    })

    it('is refused while another living owner holds it, and given when it has expired', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const first = found(await claiming(database, session, { now: 1000 }))
      const late = 1000 + leaseMs
      const early = { owner: 'proc_b', now: late - 1 }
      assert.equal(await claiming(database, session, early), undefined)
      const second = found(await claiming(database, session, { owner: 'proc_b', now: late }))
      const generation = first.generation + 1
      assert.deepEqual(second, { owner: 'proc_b', generation, isTakenOver: true, threads: 0 })
    })

    it('is given at once when its owner is dead', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await claiming(database, session, {})
      const other = { owner: 'proc_b', dead: ['proc_x', 'proc_a'] }
      assert.ok(await claiming(database, session, other))
    })

    it('is given again to the one who holds it, under a new generation', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const first = found(await claiming(database, session, {}))
      const second = found(await claiming(database, session, {}))
      assert.equal(second.generation, first.generation + 1)
      assert.equal(await fenced(database, session, first, 'stale'), undefined)
      assert.ok(await fenced(database, session, second, 'fresh'))
    })

    it('is prolonged by a heartbeat, for its own owner and the sessions that run there alone', async () => {
      await using opened = await open()
      const { database } = opened
      const [mine, theirs] = [await insertHead(database), await insertHead(database)]
      const left = await insertHead(database)
      await claiming(database, mine, {})
      await claiming(database, left, {})
      await claiming(database, theirs, { owner: 'proc_b' })
      await database.write((tx) => prolongHeads(tx, 'proc_a', [mine, theirs], 10_000))
      const late = { owner: 'proc_c', now: leaseMs + 1 }
      assert.equal(await claiming(database, mine, late), undefined)
      assert.ok(await claiming(database, theirs, late))
      assert.ok(await claiming(database, left, late))
    })

    it('says whom its session was taken from: nobody after a release, the owner that failed after an expiry', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const from = async (owner: string) => {
        const fence = found(await claiming(database, session, { owner, now: 1 }))
        const { previous_owner } = await readHead(database.read, tenant, session)
        return { fence, previous_owner }
      }
      const first = await from('proc_a')
      await database.write((tx) => expireHead(tx, session, first.fence))
      const second = await from('proc_b')
      await database.write((tx) => expireHead(tx, session, first.fence))
      assert.equal(await claiming(database, session, { owner: 'proc_c', now: 1 }), undefined)
      await database.write((tx) => releaseHead(tx, session, second.fence))
      const third = await from('proc_c')
      const names = [first, second, third].map(({ previous_owner }) => previous_owner)
      assert.deepEqual(names, [null, 'proc_a', null])
    })

    it('counts how often it was taken from an owner that failed, until an event of the turn is kept', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const failing = async () => {
        const fence = found(await claiming(database, session, { now: 1 }))
        await database.write((tx) => expireHead(tx, session, fence))
        return (await readHead(database.read, tenant, session)).recoveries
      }
      assert.deepEqual([await failing(), await failing(), await failing()], [0, 1, 2])
      const told = { type: 'unknown_error', message: 'm', retry_status: { type: 'retrying' } }
      const error = { id: newId('event'), type: 'session.error', error: told } as NewEvent
      await keepEvents(database, session, [error])
      assert.equal(await failing(), 3)
      const fence = found(await claiming(database, session, { now: 1 }))
      assert.equal((await readHead(database.read, tenant, session)).recoveries, 4)
      assert.ok(await fenced(database, session, fence, 'come on'))
      assert.equal((await readHead(database.read, tenant, session)).recoveries, 0)
      await database.write((tx) => releaseHead(tx, session, fence))
      assert.equal(await failing(), 0)
    })

    it('is free when it was given back, and a stale fence gives nothing back', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const stale = found(await claiming(database, session, {}))
      const taken = found(await claiming(database, session, { owner: 'proc_b', dead: ['proc_a'] }))
      await database.write((tx) => releaseHead(tx, session, stale))
      assert.equal(await claiming(database, session, { owner: 'proc_c' }), undefined)
      await database.write((tx) => releaseHead(tx, session, { ...taken, generation: 0 }))
      assert.equal(await claiming(database, session, { owner: 'proc_c' }), undefined)
      await database.write((tx) => releaseHead(tx, session, taken))
      assert.ok(await claiming(database, session, { owner: 'proc_c' }))
    })

    it('lets nothing of a former owner into the log', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const stale = found(await claiming(database, session, {}))
      assert.deepEqual(await fenced(database, session, stale, 'one'), { first: 1, last: 1 })
      const taken = found(await claiming(database, session, { owner: 'proc_b', dead: ['proc_a'] }))
      assert.equal(await fenced(database, session, stale, 'lost'), undefined)
      assert.deepEqual(await fenced(database, session, taken, 'two'), { first: 2, last: 2 })
      const rows = await readEvents(database.read, tenant, session, { limit: 10 })
      assert.equal(rows.length, 2)
      assert.ok(rows.every((row) => !row.data.includes('lost')))
    })

    it('is not needed for a session that exists nowhere: nothing is claimed', async () => {
      await using opened = await open()
      assert.equal(await claiming(opened.database, 'sesn_none', {}), undefined)
    })
  })
}
