import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { NoWorkspaceError } from '../../ground/core/errors.ts'
import { openFilePerTenant } from '../../ground/database/per-tenant/fixture.ts'
import { createPollRecorder } from './presence.ts'

const [a, b] = ['wrkspc_a', 'wrkspc_b']

describe('the presence of workers', () => {
  it('of one workspace is noted where another was deleted meanwhile', async () => {
    await using at = await openFilePerTenant([a, b])
    const { databases } = at
    const clock = movedClock()
    await clock.pass(60_000)
    const see = createPollRecorder(databases, clock)
    await see(a, 'env_a', 'first')
    await see(a, 'env_a', 'second')
    await databases.forget(a)
    await clock.pass(1_000)
    await see(b, 'env_b', 'worker')
    const { read } = await databases.open(b)
    const rows = await read.selectFrom('work_pollers').select('worker_id').execute()
    assert.deepEqual(
      rows.map(({ worker_id }) => worker_id),
      ['worker'],
    )
    await clock.pass(1_000)
    await assert.rejects(see(a, 'env_a', 'third'), NoWorkspaceError)
  })
})
