import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../ground/core/text/ids.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { claimHead } from '../../ground/database/lease.ts'
import { postInUnits } from '../../sessions/events/post.ts'
import { newSession } from '../../sessions/fixture.ts'
import { keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { readWaiting } from '../../sessions/log/inbox.ts'
import { readEvents } from '../../sessions/log/log.ts'
import { newEndpoint } from '../../tenants/webhooks/fixture.ts'
import { claimTurn, finishPlainTurn } from './plain-turns.ts'
import type { SessionLease } from './steps.ts'
import { finishTurn } from './finish-turn.ts'
import { nextStep } from './steps.ts'
import { withHeardNotices } from '../../ground/database/fixture.ts'

const message = (text = 'go') => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
})
const fresh = <E extends object>(event: E) => ({ ...event, id: newId('event') })
const clock = { now: () => 0, sleep: async () => {} }
const end = { stop: { type: 'end_turn' as const }, last: [], isElsewhere: false }
const said = { event: fresh({ type: 'agent.message' as const, content: [] }) }

const send = (database: Database, session: string, ...events: Parameters<typeof postInUnits>[2]) =>
  postInUnits(database, { tenant, session, clock }, events)

const rowsOf = (database: Database, session: string) =>
  readEvents(database.read, tenant, session, { limit: 1_000, extensions: true })

const typesOf = async (database: Database, session: string) =>
  (await rowsOf(database, session)).map(({ type }) => type)

const begin = async (database: Database, session: string): Promise<SessionLease> => {
  const claimed = await claimTurn(database, { tenant, session }, { now: 0, dead: [] })
  assert.ok(claimed && claimed !== 'busy')
  return claimed.lease
}

/** Changes after which a turn cannot begin by the step without a lock. */
const obstacles: Record<string, (database: Database, session: string) => Promise<unknown>> = {
  'has an owner': (database, session) =>
    database.write((tx) =>
      claimHead(tx, session, { owner: database.owners.self, dead: [], now: Date.now() }),
    ),
  'is interrupted': (database, session) =>
    send(database, session, fresh({ type: 'user.interrupt' as const })),
  'has an open call': (database, session) =>
    keepEvents(database, session, [
      fresh({ type: 'agent.custom_tool_use' as const, name: 'f', input: {} }),
    ]),
  'has more messages than a snapshot': (database, session) =>
    send(database, session, ...Array.from({ length: 40 }, () => message())),
  'has a message longer than a snapshot': (database, session) =>
    send(database, session, message('x'.repeat(20_000))),
  'has a tenant with a webhook': (database) =>
    newEndpoint(database, createSeal('a root secret'), { tenant, url: 'https://hooks.example' }),
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`a turn without a lock, on ${name}`, () => {
    it('begins with the messages that wait, and ends with idle', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const { database: listened, heard } = withHeardNotices(database)
      const posted = await send(listened, session, message('one'), message('two'))
      assert.ok(heard.some(({ topic }) => topic === 'work'))
      const lease = await begin(database, session)
      const begun = ['session.status_run_started', 'user.message', 'user.message']
      begun.push('session.status_running', 'span.model_request_start')
      assert.deepEqual(await typesOf(database, session), begun)
      assert.deepEqual(
        (await rowsOf(database, session)).flatMap((row) =>
          row.type === 'user.message' ? { ...row } : [],
        ),
        posted.map((echo, index) => {
          const { id, type, data, created_at } = echo
          return { id, type, data, created_at, processed_at: created_at, seq: index + 2 }
        }),
      )
      const { owner, generation, due } = await readHead(database.read, tenant, session)
      assert.deepEqual([{ owner, generation }, due], [lease.fence, 1])
      assert.equal(await claimTurn(database, { tenant, session }, { now: 0, dead: [] }), undefined)
      assert.equal(await finishPlainTurn(database, lease, { ...end, last: [said] }, 0), 'rest')
      assert.deepEqual(await typesOf(database, session), [
        ...begun,
        ...['agent.message', 'session.usage', 'session.status_idle'],
      ])
      const head = await readHead(database.read, tenant, session)
      assert.deepEqual([head.owner, head.due, head.status], [null, 0, 'idle'])
    })

    for (const [what, arrange] of Object.entries(obstacles))
      it(`does not begin, and writes nothing, where the session ${what}`, async () => {
        await using testDatabase = await open()
        const { database } = testDatabase
        const session = await newSession(database)
        await send(database, session, message())
        await arrange(database, session)
        const before = await readHead(database.read, tenant, session)
        const queue = await readWaiting(database.read, tenant, session)
        assert.equal(
          await claimTurn(database, { tenant, session }, { now: 0, dead: [] }),
          undefined,
        )
        assert.deepEqual(await readHead(database.read, tenant, session), before)
        assert.deepEqual(await readWaiting(database.read, tenant, session), queue)
      })

    it('belongs to another process that has the session, but not to a process that is dead or cut off', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await send(database, session, message())
      const { self } = database.owners
      const [owner, now] = ['proc_other', Date.now()]
      await database.write((tx) => claimHead(tx, session, { owner, dead: [], now }))
      const work = { tenant, session }
      assert.equal(await claimTurn(database, work, { now, dead: [self] }), 'busy')
      assert.equal(await claimTurn(database, work, { now, dead: [owner] }), undefined)
      assert.equal(await claimTurn(database, work, { now: now + 60_000, dead: [] }), undefined)
    })

    it('keeps many messages waiting when the log does not take them', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      for (let at = 0; at < 3; at++)
        await send(database, session, ...Array.from({ length: 10 }, () => message()))
      const queue = await readWaiting(database.read, tenant, session)
      const { id = '' } = queue.at(-1) ?? {}
      const occupied = {
        tenant_id: tenant,
        session_id: session,
        seq: 20,
        id,
        type: 'agent.message',
      }
      await database.write((tx) =>
        tx
          .insertInto('events')
          .values({ ...occupied, created_at: '', processed_at: '', data: '{}', opaque: null })
          .execute(),
      )
      const before = await readHead(database.read, tenant, session)
      await assert.rejects(claimTurn(database, { tenant, session }, { now: 0, dead: [] }))
      assert.deepEqual(await readWaiting(database.read, tenant, session), queue)
      assert.deepEqual(await readHead(database.read, tenant, session), before)
    })

    it('does not end, and writes nothing, where its lease was lost, or an interrupt waits', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await send(database, session, message())
      const lease = await begin(database, session)
      const stale = { ...lease, fence: { ...lease.fence, generation: 0 } }
      assert.equal(await finishPlainTurn(database, stale, end, 0), undefined)
      await send(database, session, fresh({ type: 'user.interrupt' as const }))
      const before = await readHead(database.read, tenant, session)
      assert.equal(await finishPlainTurn(database, lease, end, 0), undefined)
      assert.deepEqual(await readHead(database.read, tenant, session), before)
    })

    it('loses no message and takes none twice, whatever is posted while it begins and ends', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const texts = Array.from({ length: 60 }, (_, n) => `message ${n}`)
      let isPosted = false
      const posting = (async () => {
        for (let at = 0; at < texts.length; at += 3)
          await Promise.all(
            texts.slice(at, at + 3).map((text) => send(database, session, message(text))),
          )
        isPosted = true
      })()
      const turns = { plain: 0, locked: 0 }
      const claimLocked = () =>
        database.write(async (tx) => {
          const fence = await claimHead(tx, session, {
            owner: database.owners.self,
            dead: [],
            now: 0,
          })
          assert.ok(fence)
          const lease = { tenant, session, fence }
          return { lease, step: await nextStep(tx, lease, { now: 0, claimed: true }) }
        })
      for (;;) {
        const isLast = isPosted
        const plain = await claimTurn(database, { tenant, session }, { now: 0, dead: [] })
        assert.ok(plain !== 'busy')
        const { lease, step } = plain ?? (await claimLocked())
        for (let isTurn = step.kind === 'turn'; isTurn;) {
          const finished = await finishPlainTurn(database, lease, end, 0)
          turns[finished ? 'plain' : 'locked']++
          const outcome = finished ?? (await database.write((tx) => finishTurn(tx, lease, end, 0)))
          if (outcome !== 'more') break
          const next = await database.write((tx) => nextStep(tx, lease, { now: 0, claimed: false }))
          isTurn = next.kind === 'turn'
        }
        if (isLast) break
      }
      await posting
      const kept = await rowsOf(database, session)
      assert.deepEqual(
        kept.map(({ seq }) => seq),
        kept.map((_, index) => index + 1),
      )
      const found = kept.flatMap(({ type, data }) =>
        type === 'user.message' ? (/message \d+/.exec(data)?.[0] ?? '') : [],
      )
      assert.deepEqual(found.toSorted(), texts.toSorted())
      assert.ok(turns.plain > 0)
      assert.equal((await readHead(database.read, tenant, session)).due, 0)
    })
  })
}
