/** Finds dreams that have not stopped. All processes drive each dream; the commit of a step decides between them. */
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import type { DreamDeps } from './drive-dream.ts'
import { driveDream } from './drive-dream.ts'
import type { OpenDream } from './store.ts'
import { dreamStore } from './store.ts'
import { listenToDreams } from './topics.ts'

/** Poll interval for lost notifications and for dreams of a process that died. */
const everyMs = 120_000
/** Concurrent dreams of a process. */
const mostDreams = 50

type RunningDream = { done: Promise<void>; canceled: AbortController }

export function dreamJob(deps: DreamDeps & { databases: Databases }): Job {
  const { databases, bus, log } = deps
  const driving = new Map<string, RunningDream>()

  async function run(signal: AbortSignal): Promise<boolean> {
    for await (const db of databases.due())
      for (const each of await dreamStore(db.read).open(mostDreams)) {
        if (signal.aborted) return true
        const driven = driving.get(each.id)
        if (driven) await look(db, each, driven)
        else if (driving.size < mostDreams) drive(db, each, signal)
      }
    return true
  }

  async function look(db: Database, { tenant_id, id }: OpenDream, { canceled }: RunningDream) {
    const { status } = await dreamStore(db.read).row(tenant_id, id)
    if (status === 'canceled') canceled.abort()
  }

  function drive(db: Database, { tenant_id: tenant, id }: OpenDream, signal: AbortSignal) {
    const canceled = new AbortController()
    const place = { db, tenant, id, signal, canceled: canceled.signal }
    const done = driveDream(deps, place)
      .catch((error: unknown) => {
        log.error('a dream could not go on; it is tried again', { error, dream_id: id })
      })
      .finally(() => driving.delete(id))
    driving.set(id, { done, canceled })
  }

  return {
    name: 'run dreams',
    everyMs,
    run,
    start(runNow) {
      const unsubscribe = listenToDreams(bus, runNow)
      return async () => {
        unsubscribe()
        await Promise.all([...driving.values()].map(({ done }) => done))
      }
    },
  }
}
