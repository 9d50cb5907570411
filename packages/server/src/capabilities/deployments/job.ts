/**
 * Runs due deployments. All processes poll and claim some at a time; the transaction of a run decides which process
 * runs it.
 */
import { createAlarm } from '../../ground/core/time/alarm.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import { startDueRuns } from './due-runs.ts'
import { deploymentStore } from './store.ts'
import { listenToSchedules } from './topics.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'

/** Poll interval. A poll also reads what comes due before the next one, and an alarm starts that one early. */
const everyMs = 30_000
/** Due times that one poll reads. */
const mostDue = 1_000

export function deploymentJob(deps: OpenSessionDeps): Job {
  const { databases, bus, clock } = deps

  const alarm = createAlarm(clock)

  async function run(signal: AbortSignal): Promise<boolean> {
    const busy: Database[] = []
    let nearest = Infinity
    let unclaimable: ReadonlySet<Database> = new Set()
    const runs = startDueRuns(deps, signal)
    try {
      for await (const db of databases.due(everyMs)) {
        const now = clock.now()
        const coming = await deploymentStore(db.read).dueTimes(now + everyMs, mostDue)
        const due = coming.filter((at) => at <= now).length
        if (due === 0) nearest = Math.min(nearest, coming[0] ?? Infinity)
        else {
          busy.push(db)
          runs.add(db, due)
        }
      }
    } finally {
      unclaimable = await runs.end()
    }
    // Poll again when the claim of another process ends. A claim that failed, as on a full disk, waits for the next
    // poll: its deployments are still due, and would be tried again at once.
    for (const db of busy.filter((each) => !unclaimable.has(each))) {
      const [next = Infinity] = await deploymentStore(db.read).dueTimes(clock.now() + everyMs, 1)
      nearest = Math.min(nearest, next)
    }
    if (nearest < Infinity) alarm.at(nearest, signal)
    return nearest > clock.now()
  }

  return {
    name: 'run deployments',
    everyMs,
    run,
    start(now) {
      const stop = alarm.start(now)
      const unsubscribe = listenToSchedules(bus, now)
      return () => {
        unsubscribe()
        stop()
      }
    },
  }
}
