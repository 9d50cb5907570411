/** Finds runs to drive. One process drives a run, under a lease; its trials run on any runner. */
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import type { EvalDeps } from './drive-run.ts'
import { driveRun } from './drive-run.ts'
import { evalStore } from './store.ts'
import { listenToEvals } from './topics.ts'

/** Poll interval for lost notifications and for runs of a process that died. */
const everyMs = 30_000
/** Concurrent runs of a process. */
const mostRuns = 50
/** Open runs that one poll reads. */
const mostOpen = 1_000

export function evalJob(deps: EvalDeps & { databases: Databases }): Job {
  const { databases, bus, clock, log } = deps
  const driving = new Map<string, Promise<void>>()

  async function run(signal: AbortSignal): Promise<boolean> {
    for await (const database of databases.due()) {
      for (const each of await waitingRuns(database, clock.now())) {
        if (signal.aborted || driving.size >= mostRuns) return true
        if (!driving.has(each.id)) drive(database, each, signal)
      }
    }
    return true
  }

  function drive(database: Database, run: { tenant_id: string; id: string }, signal: AbortSignal) {
    const driven = driveRun(deps, { db: database, tenant: run.tenant_id, id: run.id }, signal)
      .catch((error: unknown) => {
        log.error('an eval could not go on; it is tried again', { error, run_id: run.id })
      })
      .finally(() => driving.delete(run.id))
    driving.set(run.id, driven)
  }

  return {
    name: 'run evals',
    everyMs,
    run,
    start(runNow) {
      const unsubscribe = listenToEvals(bus, runNow)
      return async () => {
        unsubscribe()
        await Promise.all(driving.values())
      }
    },
  }
}

/** Open runs that no living process drives, oldest first. One statement when no run is open. */
async function waitingRuns(database: Database, now: number) {
  const runs = await evalStore(database.read).open(mostOpen)
  const owners = new Set(runs.flatMap(({ owner, expires_at }) => (expires_at > now && owner) || []))
  const dead = owners.size > 0 ? await database.owners.dead([...owners]) : []
  return runs.filter(
    ({ owner, expires_at }) => owner === null || expires_at <= now || dead.includes(owner),
  )
}
