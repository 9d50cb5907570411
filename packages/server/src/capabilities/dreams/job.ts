/** Finds dreams that have not stopped. All processes drive each dream; the commit of a step decides between them. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { createDueWork } from '../../ground/due-work.ts'
import type { Ground } from '../../ground/ground.ts'
import type { DreamContext } from './drive-dream.ts'
import type { OpenDream } from './store.ts'
import { dreamStore } from './store.ts'
import { listenToDreams } from './topics.ts'

export function dreamJob({
  drive,
  ...ground
}: Ground & { drive: (context: DreamContext) => Promise<void> }): Job {
  /** What cancels each dream that this process drives. */
  const running = new Map<string, AbortController>()

  return createDueWork<OpenDream>(ground, {
    name: 'run dreams',
    // Polls are for lost notifications and for dreams of a process that died.
    everyMs: 120_000,
    slots: { total: 50, percent: 50 },
    failedMs: 10_000,
    failure: { message: 'a dream could not go on; it is tried again', field: 'dream_id' },
    listen: (look) => listenToDreams(ground.bus, look),
    async prepare(db) {
      if (running.size === 0) return
      for (const id of await dreamStore(db.read).canceled([...running.keys()]))
        running.get(id)?.abort()
    },
    find: (db, skipped, limit) => dreamStore(db.read).open(skipped, limit),
    async drive(db, { tenant_id: tenant, id }, signal) {
      const canceled = new AbortController()
      running.set(id, canceled)
      try {
        await drive({ db, tenant, id, signal, canceled: canceled.signal })
      } finally {
        running.delete(id)
      }
    },
  })
}
