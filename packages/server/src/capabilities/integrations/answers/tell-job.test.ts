import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { memoryBus } from '../../../ground/bus/memory.ts'
import { unitOn } from '../../../ground/bus/fixture.ts'
import type { Database } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { announceChange } from '../../../sessions/log/topics.ts'
import type { ExternalThreadRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { ThreadLook } from './tell.ts'
import { tellJob } from './tell-job.ts'
import { notifyIntegrations } from '../topics.ts'
import { rows } from '../../../ground/database/rows.ts'

const log = jsonLog((line) => assert.fail(line))

type Given = Pick<ExternalThreadRow, 'id' | 'tenant_id' | 'publication_id' | 'due_ms'>

const insert = (db: Database, threads: readonly Given[]): Promise<void> =>
  db.write(async (tx) => {
    for (const each of threads)
      await rows(tx, 'integration_threads').insert({
        ...{ scope: each.id, session_id: `sesn_${each.id}`, target: {}, notes: {}, first: null },
        ...{
          told_seq: 0,
          told_parts: 0,
          begun: null,
          token_due_ms: null,
          reads_only: null,
          wakes: null,
          turn_target: null,
          owner: null,
        },
        ...{ ...each, expires_at: 0 },
      })
  })

const settled = async (): Promise<void> => {
  for (let n = 0; n < 5; n++) await setImmediate()
}

/** The clock and the bus of a database with one thread, which is due. */
async function dueThread(db: Database) {
  const [clock, bus] = [movedClock(), memoryBus()]
  const thread = { id: '1', tenant_id: 'wrkspc_1', publication_id: 'pub_1' }
  await insert(db, [{ ...thread, due_ms: clock.now() }])
  return { clock, bus }
}

describe('the job that sends tellings', () => {
  it('lets a receiver that does not answer hold no other tenant, and no other publication', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const due_ms = clock.now()
    const one = { tenant_id: 'wrkspc_1', publication_id: 'pub_1' }
    await insert(db, [
      ...Array.from({ length: 300 }, (_, n) => ({ ...one, id: `${n}`, due_ms: due_ms - 1 })),
      { ...one, id: 'beside', publication_id: 'pub_2', due_ms },
      { id: 'other', tenant_id: 'wrkspc_2', publication_id: 'pub_3', due_ms },
    ])
    const told: string[] = []
    const answer = Promise.withResolvers<ThreadLook>()
    const job = tellJob({
      ...testGround(db, { clock, log }),
      tell(_, id) {
        told.push(id)
        return /\d/.test(id) ? answer.promise : Promise.resolve({ isRunning: false })
      },
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    assert.ok(await job.run(new AbortController().signal), 'no next run follows at once')
    assert.ok(told.includes('other') && told.includes('beside') && told.length < 20)
    await settled()
    const before = rings
    answer.resolve({ isRunning: false })
    await stop?.()
    assert.ok(rings > before, 'threads that waited for a place have their turn')
  })

  it('looks at a thread again that was notified during a look', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const { clock, bus } = await dueThread(db)
    let looks = 0
    let answer = Promise.withResolvers<ThreadLook>()
    const job = tellJob({
      ...testGround(db, { bus, clock, log }),
      tell() {
        looks++
        return answer.promise
      },
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    await job.run(signal)
    announceChange(unitOn(bus), 'wrkspc_1', 'sesn_1')
    await job.run(signal)
    assert.equal(looks, 1, 'one look at a time')
    const before = rings
    answer.resolve({ isRunning: false })
    await settled()
    assert.ok(rings > before)
    answer = Promise.withResolvers()
    await job.run(signal)
    assert.equal(looks, 2)
    answer.resolve({ isRunning: false })
    await stop?.()
  })

  it('looks at a thread again that was notified while the database was away', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const { clock, bus } = await dueThread(db)
    let isAway = false
    let looks = 0
    const one = oneDatabase(db)
    function due() {
      if (isAway) throw new Error('away')
      return one.due()
    }
    const job = tellJob({
      ...testGround({ ...one, due }, { bus, clock, log }),
      async tell(_, id) {
        looks++
        await db.write(async (tx) => {
          const kept = await rows(tx, 'integration_threads').findForUpdate('wrkspc_1', id)
          assert.ok(kept)
          await rows(tx, 'integration_threads').update(kept, { due_ms: null })
        })
        return { isRunning: true }
      },
    })
    const stop = job.start?.(() => {})
    const { signal } = new AbortController()
    await job.run(signal)
    while ((await rows(db.read, 'integration_threads').find('wrkspc_1', '1'))?.due_ms !== null)
      await setImmediate()
    await settled()
    isAway = true
    announceChange(unitOn(bus), 'wrkspc_1', 'sesn_1')
    await assert.rejects(job.run(signal), /away/)
    isAway = false
    await job.run(signal)
    assert.equal(looks, 2)
    await stop?.()
  })

  it('looks again after a thread that a look had to omit because its tellings were being sent', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const bus = memoryBus()
    await insert(db, [
      { id: '1', tenant_id: 'wrkspc_1', publication_id: 'pub_1', due_ms: clock.now() },
    ])
    const answers = [Promise.withResolvers<ThreadLook>(), Promise.withResolvers<ThreadLook>()]
    let looks = 0
    const job = tellJob({
      ...testGround(db, { bus, clock, log }),
      tell: () => answers[looks++]?.promise ?? Promise.resolve({ isRunning: false }),
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    await job.run(signal)
    // A delivery wakes the thread when its last due time is stored already, and its lease is not released yet.
    notifyIntegrations(unitOn(bus))
    assert.equal(rings, 1)
    await job.run(signal)
    assert.equal(looks, 1, 'one look at a time')
    answers[0]?.resolve({ isRunning: false })
    await settled()
    assert.equal(rings, 2)
    await job.run(signal)
    assert.equal(looks, 2)
    answers[1]?.resolve({ isRunning: false })
    await settled()
    assert.equal(rings, 2, 'no look left it out')
    await stop?.()
  })

  it('listens to the new session of a thread, and no longer to the old one', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const { clock, bus } = await dueThread(db)
    const job = tellJob({
      ...testGround(db, { bus, clock, log }),
      tell: async () => ({ isRunning: true }),
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    await job.run(signal)
    await settled()
    await db.write(async (tx) => {
      const kept = await rows(tx, 'integration_threads').findForUpdate('wrkspc_1', '1')
      assert.ok(kept)
      await rows(tx, 'integration_threads').update(kept, { session_id: 'sesn_new' })
    })
    await job.run(signal)
    await settled()
    rings = 0
    announceChange(unitOn(bus), 'wrkspc_1', 'sesn_1')
    assert.equal(rings, 0)
    announceChange(unitOn(bus), 'wrkspc_1', 'sesn_new')
    assert.equal(rings, 1)
    await stop?.()
  })

  it('listens to no session of a thread that is there no more', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const bus = memoryBus()
    await insert(db, [
      { id: '1', tenant_id: 'wrkspc_1', publication_id: 'pub_1', due_ms: clock.now() },
    ])
    const job = tellJob({
      ...testGround(db, { bus, clock, log }),
      tell: async () => ({ isRunning: true }),
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    await job.run(signal)
    await db.write((tx) => integrationStore(tx).removePublication('wrkspc_1', 'pub_1'))
    await settled()
    await clock.pass(11 * 60_000)
    await job.run(signal)
    rings = 0
    announceChange(unitOn(bus), 'wrkspc_1', 'sesn_1')
    assert.equal(rings, 0)
    await stop?.()
  })
})
