/** Finds runs to drive. One process drives a run, under a lease; its trials run on any runner. */
import type { Job } from '../../ground/core/jobs.ts'
import { createNearestAlarm } from '../../ground/core/nearest-alarm.ts'
import { createWorkPlaces, startFound } from '../../ground/core/work-places.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { EvalDeps, EvalRunPlace } from './drive-run.ts'
import type { OpenRun } from './store.ts'
import { evalStore } from './store.ts'
import { listenToEvals } from './topics.ts'

/** Poll interval for lost notifications and for runs of a process that died. */
const everyMs = 30_000
/** Concurrent runs of a process, and the percentage of them that one tenant may have while the others have none. */
const places = { total: 50, percent: 50 }
/** The wait before a process drives a run again that could not go on. */
const failedMs = 10_000

type EvalJobDeps = Pick<EvalDeps, 'bus' | 'clock' | 'log'> & {
  databases: Pick<Databases, 'due'>
  drive: (place: EvalRunPlace, signal: AbortSignal) => Promise<void>
}

export function evalJob({ databases, bus, clock, log, drive }: EvalJobDeps): Job {
  let lookNow = (): void => {}
  const work = createWorkPlaces<OpenRun>(places, (_, isAwaited) => {
    if (isAwaited) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function driveOne(db: Database, { tenant_id: tenant, id }: OpenRun, signal: AbortSignal) {
    try {
      await drive({ db, tenant, id }, signal)
    } catch (error) {
      log.error('an eval could not go on; it is tried again', { error, run_id: id })
      const at = clock.now() + failedMs
      work.restUntil(id, at)
      alarm.set(at, signal)
    }
  }

  /** One statement when no run is open. Returns true: the job has no more to do now. */
  async function startAll(db: Database, signal: AbortSignal): Promise<true> {
    const store = evalStore(db.read)
    const found = await store.owners()
    if (found.length === 0) return true
    const dead = await db.owners.dead(found.filter((each) => each !== null))
    function waiting() {
      const now = clock.now()
      return store.waiting({ now, dead, skipped: work.skipped(now) }, places.total)
    }
    await startFound(
      places.total,
      waiting,
      (each) => !signal.aborted && work.start(each, () => driveOne(db, each, signal)),
    )
    return true
  }

  return {
    name: 'run evals',
    everyMs,
    run: (signal) => runOnEach(databases.due(), (db) => startAll(db, signal)),
    start(runNow) {
      lookNow = runNow
      const unsubscribe = listenToEvals(bus, runNow)
      return async () => {
        unsubscribe()
        alarm.stop()
        await work.end()
      }
    },
  }
}
