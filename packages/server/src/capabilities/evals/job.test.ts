import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import { heldJob, itDrivesItsWork } from './job-fixture.ts'
import { evalJob } from './job.ts'
import type { RunRow } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const spec: RunRow['spec'] = {
  agent: { type: 'agent', id: 'agent_1', version: 1 },
  environment_id: null,
  vault_ids: [],
  dataset: null,
  graders: [],
  trials: 1,
  max_concurrency: 1,
  timeout_ms: 1_000,
  budget: null,
  baseline_run_id: null,
}

/** Inserts open runs, with these columns. The runs of tenants stand in the order of their names. */
const insert = (
  db: Database,
  tenant_id: string,
  count: number,
  columns: Partial<RunRow> = {},
): Promise<void> =>
  db.write(async (tx) => {
    for (let n = 0; n < count; n++)
      await rows(tx, 'eval_runs').insert({
        tenant_id,
        id: `${tenant_id}_${n}`,
        name: null,
        metadata: {},
        agent_id: spec.agent.id,
        status: 'queued',
        spec,
        scores: null,
        ...releasedLease,
        started_at: null,
        ended_at: null,
        created_at: iso(0),
        updated_at: iso(0),
        ...columns,
      })
  })

for (const [name, open] of Object.entries(databases))
  describe(`the job of evals on ${name}`, () => {
    itDrivesItsWork({ open, create: evalJob, insert })

    it('ignores the runs that a living process drives, and takes those of a dead one', async () => {
      await using opened = await open()
      const { database } = opened
      const job = heldJob(database, evalJob)
      const expires_at = job.clock.now() + 15_000
      await insert(database, 'mine', 1, { owner: database.owners.self, expires_at })
      await insert(database, 'dead', 1, { owner: 'proc_dead', expires_at })
      await insert(database, 'late', 1, { owner: database.owners.self, expires_at: 0 })
      await job.run()
      assert.deepEqual([...job.held.keys()], ['dead_0', 'late_0'])
    })
  })
