/** Finds dreams that have not stopped. All processes drive each dream; the commit of a step decides between them. */
import type { Job } from '../../ground/core/jobs.ts'
import { createNearestAlarm } from '../../ground/core/nearest-alarm.ts'
import { createWorkPlaces, startFound } from '../../ground/core/work-places.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { DreamDeps, DreamPlace } from './drive-dream.ts'
import type { OpenDream } from './store.ts'
import { dreamStore } from './store.ts'
import { listenToDreams } from './topics.ts'

/** Poll interval for lost notifications and for dreams of a process that died. */
const everyMs = 120_000
/** Concurrent dreams of a process, and the percentage of them that one tenant may have while the others have none. */
const places = { total: 50, percent: 50 }
/** The wait before a process drives a dream again that could not go on. */
const failedMs = 10_000

type DreamJobDeps = Pick<DreamDeps, 'bus' | 'clock' | 'log'> & {
  databases: Pick<Databases, 'due'>
  drive: (place: DreamPlace) => Promise<void>
}

export function dreamJob({ databases, bus, clock, log, drive }: DreamJobDeps): Job {
  let lookNow = (): void => {}
  /** What cancels each dream that this process drives. */
  const running = new Map<string, AbortController>()
  const work = createWorkPlaces<OpenDream>(places, (_, isAwaited) => {
    if (isAwaited) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function driveOne(db: Database, { tenant_id: tenant, id }: OpenDream, signal: AbortSignal) {
    const canceled = new AbortController()
    running.set(id, canceled)
    try {
      await drive({ db, tenant, id, signal, canceled: canceled.signal })
    } catch (error) {
      log.error('a dream could not go on; it is tried again', { error, dream_id: id })
      const at = clock.now() + failedMs
      work.restUntil(id, at)
      alarm.set(at, signal)
    } finally {
      running.delete(id)
    }
  }

  const startAll = (db: Database, signal: AbortSignal): Promise<void> =>
    startFound(
      places.total,
      () => dreamStore(db.read).open(work.skipped(clock.now()), places.total),
      (each) => !signal.aborted && work.start(each, () => driveOne(db, each, signal)),
    )

  async function cancelIn(db: Database): Promise<void> {
    if (running.size === 0) return
    for (const id of await dreamStore(db.read).canceled([...running.keys()]))
      running.get(id)?.abort()
  }

  return {
    name: 'run dreams',
    everyMs,
    run: (signal) =>
      runOnEach(databases.due(), async (db) => {
        await cancelIn(db)
        await startAll(db, signal)
        return true
      }),
    start(runNow) {
      lookNow = runNow
      const unsubscribe = listenToDreams(bus, runNow)
      return async () => {
        unsubscribe()
        alarm.stop()
        await work.end()
      }
    },
  }
}
