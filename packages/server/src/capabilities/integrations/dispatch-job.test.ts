import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import type { DispatchOutcome } from './dispatch.ts'
import { dispatchJob } from './dispatch-job.ts'
import { integrationStore } from './store.ts'
import { listenToIntegrations } from './topics.ts'

describe('the job that gives deliveries to sessions', () => {
  it('looks again when a delivery was given, or when one is tried again, and does not spin meanwhile', async () => {
    await using opened = await databases.sqlite()
    const { database: db } = opened
    const clock = movedClock()
    const bus = memoryBus()
    let notified = 0
    listenToIntegrations(bus, () => void notified++)
    const due_ms = clock.now()
    await db.write(async (tx) => {
      for (const id of ['intdlv_1', 'intdlv_2'])
        await integrationStore(tx).insertDelivery({
          ...{ tenant_id: 'wrkspc_1', id, publication_id: 'pub_1', external_id: id, begun: 0 },
          ...{ state: 'waiting', reason: null, scope: '7', author: 'ada', session_id: null },
          ...{ received: { kind: 'interrupt', scope: '7', author: 'ada' }, due_ms },
          created_at: iso(due_ms),
        })
    })
    let outcome: DispatchOutcome = { kind: 'waits' }
    const job = dispatchJob({
      ...{ databases: oneDatabase(db), bus, clock, log: jsonLog((line) => assert.fail(line)) },
      dispatch: () => Promise.resolve(outcome),
    })
    let rings = 0
    const stop = job.start?.(() => void rings++)
    const { signal } = new AbortController()
    await job.run(signal)
    outcome = { kind: 'again', at: due_ms + 4_000 }
    await job.run(signal)
    assert.deepEqual([notified, rings], [0, 0])
    await clock.pass(4_000)
    assert.equal(rings, 1)
    outcome = { kind: 'moved' }
    await job.run(signal)
    assert.equal(notified, 1)
    stop?.()
  })
})
