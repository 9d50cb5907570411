/** Finds runs to drive. One process drives a run, under a lease; its trials run on any runner. */
import { createDrivenWork } from '../../ground/core/fairness/driven-work.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { EvalRunRef } from './drive-run.ts'
import type { OpenRun } from './store.ts'
import { evalStore } from './store.ts'
import { listenToEvals } from './topics.ts'
import type { Ground } from '../../ground/ground.ts'

/** Poll interval for lost notifications and for runs of a process that died. */
const everyMs = 30_000

export function evalJob({
  databases,
  bus,
  clock,
  log,
  drive,
}: Ground & { drive: (ref: EvalRunRef, signal: AbortSignal) => Promise<void> }): Job {
  const work = createDrivenWork<OpenRun>(clock, (error, run_id) =>
    log.error('an eval could not go on; it is tried again', { error, run_id }),
  )

  /** One statement when no run is open. Returns true: the job has no more to do now. */
  async function startAll(db: Database, signal: AbortSignal): Promise<true> {
    const store = evalStore(db.read)
    const found = await store.owners()
    if (found.length === 0) return true
    const dead = await db.owners.dead(found.filter((each) => each !== null))
    await work.startAll(
      {
        find: (skipped, limit) => store.waiting({ now: clock.now(), dead, skipped }, limit),
        drive: ({ tenant_id: tenant, id }) => drive({ db, tenant, id }, signal),
      },
      signal,
    )
    return true
  }

  return {
    name: 'run evals',
    everyMs,
    run: (signal) => runOnEach(databases.due(), (db) => startAll(db, signal)),
    start: (runNow) => work.start(runNow, (look) => listenToEvals(bus, look)),
  }
}
