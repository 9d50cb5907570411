import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import type { DispatchOutcome } from './dispatch.ts'
import { dispatchJob } from './dispatch-job.ts'
import { notifyIntegrations } from '../topics.ts'
import { rows } from '../../../ground/database/rows.ts'

const log = jsonLog((line) => assert.fail(line))

type Waiting = { id: string; scope: string; due_ms: number; publication_id?: string }

const insert = (db: Database, deliveries: readonly Waiting[]): Promise<void> =>
  db.write(async (tx) => {
    for (const { id, scope, due_ms, publication_id = 'pub_1' } of deliveries)
      await rows(tx, 'integration_deliveries').insert({
        ...{ tenant_id: 'wrkspc_1', id, publication_id, external_id: id, begun: 0 },
        ...{ state: 'waiting', reason: null, scope, author: 'ada', session_id: null, due_ms },
        received: { kind: 'interrupt', scope, author: 'ada' },
        ...{ number: null, event_id: null, target: null, missing: null, answer_state: null },
        ...{ answer_url: null, answer_reason: null, answer_event: null },
        created_at: iso(0),
      })
  })

/** Waits for work that continues after the end of a run. */
const settled = async (): Promise<void> => {
  for (let n = 0; n < 5; n++) await setImmediate()
}

describe('the job that gives deliveries to sessions', () => {
  it('looks again when a delivery was given, or when one is tried again, and does not spin meanwhile', async () => {
    await using opened = await databases.sqlite()
    const { database: db, bus } = opened
    const clock = movedClock()
    const due_ms = clock.now()
    await insert(db, [
      { id: 'intdlv_1', scope: '7', due_ms },
      { id: 'intdlv_2', scope: '7', due_ms },
    ])
    let outcome: DispatchOutcome = { kind: 'waits' }
    const given: string[] = []
    const job = dispatchJob({
      ...testGround(db, { bus, clock, log }),
      async dispatch(_, id) {
        given.push(id)
        return outcome
      },
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    async function run(): Promise<void> {
      assert.ok(await job.run(signal), 'no next run follows at once')
      await settled()
    }
    await run()
    await run()
    assert.deepEqual([given, rings], [['intdlv_1'], 0])
    await clock.pass(5_000)
    assert.equal(rings, 1)
    outcome = { kind: 'again', at: clock.now() + 4_000 }
    await run()
    assert.equal(rings, 1)
    await clock.pass(4_000)
    assert.equal(rings, 2)
    outcome = { kind: 'ended' }
    await run()
    await db.write(async (tx) => notifyIntegrations(tx))
    assert.equal(rings, 3, 'by the notification of the unit that has ended it')
    assert.deepEqual(
      new Set(given),
      new Set(['intdlv_1']),
      'the second has its turn after the first',
    )
    await stop?.()
  })

  it('gives what is due in other threads, however much waits behind a delivery that fails', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const now = clock.now()
    const behind = Array.from({ length: 300 }, (_, n) => ({
      ...{ id: `intdlv_2_${n}`, scope: '7', due_ms: now - 1000 },
    }))
    const failing = { id: 'intdlv_1', scope: '7', due_ms: now + 60_000 }
    await insert(db, [failing, ...behind, { id: 'intdlv_3', scope: '8', due_ms: now }])
    const given: string[] = []
    const job = dispatchJob({
      ...testGround(db, { clock, log }),
      async dispatch(_, id) {
        given.push(id)
        return { kind: 'waits' }
      },
    })
    await job.run(new AbortController().signal)
    assert.deepEqual(given, ['intdlv_3'])
  })

  it('lets a delivery whose files are slow hold no other publication', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const due_ms = clock.now()
    const slow = Array.from({ length: 300 }, (_, n) => ({
      ...{ id: `intdlv_${n}`, scope: `${n}`, due_ms: due_ms - 1 },
    }))
    await insert(db, [...slow, { id: 'intdlv_x', scope: '1', due_ms, publication_id: 'pub_2' }])
    const given: string[] = []
    const files = Promise.withResolvers<DispatchOutcome>()
    const job = dispatchJob({
      ...testGround(db, { clock, log }),
      dispatch(_, id) {
        given.push(id)
        return id === 'intdlv_x' ? Promise.resolve({ kind: 'waits' }) : files.promise
      },
    })
    const stop = job.start?.(() => {})
    await job.run(new AbortController().signal)
    assert.ok(given.includes('intdlv_x') && given.length < 20)
    files.resolve({ kind: 'waits' })
    await stop?.()
  })
})
