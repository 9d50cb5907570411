/** Finds dreams that have not stopped. All processes drive each dream; the commit of a step decides between them. */
import { createDrivenWork } from '../../ground/core/fairness/driven-work.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { DreamContext } from './drive-dream.ts'
import type { OpenDream } from './store.ts'
import { dreamStore } from './store.ts'
import { listenToDreams } from './topics.ts'
import type { Ground } from '../../ground/ground.ts'

/** Poll interval for lost notifications and for dreams of a process that died. */
const everyMs = 120_000

export function dreamJob({
  databases,
  bus,
  clock,
  log,
  drive,
}: Ground & { drive: (context: DreamContext) => Promise<void> }): Job {
  /** What cancels each dream that this process drives. */
  const running = new Map<string, AbortController>()
  const work = createDrivenWork<OpenDream>(clock, (error, dream_id) =>
    log.error('a dream could not go on; it is tried again', { error, dream_id }),
  )

  async function driveOne(db: Database, { tenant_id: tenant, id }: OpenDream, signal: AbortSignal) {
    const canceled = new AbortController()
    running.set(id, canceled)
    try {
      await drive({ db, tenant, id, signal, canceled: canceled.signal })
    } finally {
      running.delete(id)
    }
  }

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
        await work.startAll(
          {
            find: (skipped, limit) => dreamStore(db.read).open(skipped, limit),
            drive: (each) => driveOne(db, each, signal),
          },
          signal,
        )
        return true
      }),
    start: (runNow) => work.start(runNow, (look) => listenToDreams(bus, look)),
  }
}
