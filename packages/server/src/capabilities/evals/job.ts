/** Finds runs to drive. One process drives a run, under a lease; its trials run on any runner. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { createDueWork } from '../../ground/due-work.ts'
import type { Ground } from '../../ground/ground.ts'
import type { EvalRunRef } from './drive-run.ts'
import type { OpenRun } from './store.ts'
import { evalStore } from './store.ts'
import { listenToEvals } from './topics.ts'

export function evalJob({
  drive,
  ...ground
}: Ground & { drive: (ref: EvalRunRef, signal: AbortSignal) => Promise<void> }): Job {
  return createDueWork<OpenRun>(ground, {
    name: 'run evals',
    // Polls are for lost notifications and for runs of a process that died.
    everyMs: 30_000,
    slots: { total: 50, percent: 50 },
    failedMs: 10_000,
    failure: { message: 'an eval could not go on; it is tried again', field: 'run_id' },
    listen: (look) => listenToEvals(ground.bus, look),
    /** One statement when no run is open. */
    async find(db, skipped, limit) {
      const store = evalStore(db.read)
      const found = await store.owners()
      if (found.length === 0) return []
      const dead = await db.owners.dead(found.filter((each) => each !== null))
      return store.waiting({ now: ground.clock.now(), dead, skipped }, limit)
    },
    drive: (db, { tenant_id: tenant, id }, signal) => drive({ db, tenant, id }, signal),
  })
}
