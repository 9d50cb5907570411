/**
 * Tells threads the news of their sessions. Every process looks for due threads; leases decide which process tells one.
 */
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Database } from '../../../ground/database/database.ts'
import type { NextLook } from '../../../ground/due-work.ts'
import { createDueWork } from '../../../ground/due-work.ts'
import { listenToSession } from '../../../sessions/log/topics.ts'
import type { DueThread } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { ThreadLook } from './tell.ts'
import { mostDue, publicationSlots } from '../slots.ts'
import { listenToIntegrations } from '../topics.ts'
import type { JobContext } from '../job-context.ts'
import type { Ground } from '../../../ground/ground.ts'

/** The wait after which the job looks at a thread again, when another process has it or telling it failed. */
const heldMs = 15_000
/**
 * The time for which the job listens to a thread after its last look. A thread without a look was deleted, or another
 * process tells it.
 */
const listenedMs = 10 * 60_000

export function tellJob({
  tell,
  ...ground
}: Ground & {
  /** Resolves to undefined when another process has the thread. */
  tell: (context: JobContext, id: string) => Promise<ThreadLook | undefined>
}): Job {
  const { bus, clock } = ground
  /** Threads whose sessions are running. */
  const listening = new Map<string, { session: string; stop: () => void; seenMs: number }>()
  /** Threads whose sessions have news. */
  const rings = new Map<string, DueThread>()
  /** Those of the rings that the present look takes up. */
  let rung = new Map<string, DueThread>()
  let lookNow = () => {}

  function listen(thread: DueThread): void {
    const { id, session_id } = thread
    if (session_id === null) return
    const known = listening.get(id)
    const seenMs = clock.now()
    // A thread gets a new session when its session was archived or deleted.
    if (known?.session === session_id) {
      listening.set(id, { ...known, seenMs })
      return
    }
    known?.stop()
    const stop = listenToSession(bus, session_id, () => {
      rings.set(id, thread)
      lookNow()
    })
    listening.set(id, { session: session_id, stop, seenMs })
  }
  function forget(id: string): void {
    listening.get(id)?.stop()
    listening.delete(id)
    rings.delete(id)
  }

  async function tellOne(
    db: Database,
    thread: DueThread,
    signal: AbortSignal,
  ): Promise<NextLook | undefined> {
    const { id, tenant_id: tenant } = thread
    rung.delete(id)
    // Listen before reading the log: later events then notify again.
    listen(thread)
    let told: ThreadLook | undefined
    try {
      told = await tell({ db, tenant, signal }, id)
    } finally {
      if (!told?.isRunning && !rings.has(id)) forget(id)
    }
    // Another process has the thread, and may die with it.
    if (!told) return { at: clock.now() + heldMs, isLeftOut: true }
    // The thread has got a session since it was found. Listen to it, and look again for what came before.
    if (told.isRunning && told.session && told.session !== thread.session_id) {
      const anew = { ...thread, session_id: told.session }
      listen(anew)
      rings.set(id, anew)
    }
    return told.at === undefined ? undefined : { at: told.at }
  }

  const job = createDueWork<DueThread>(ground, {
    name: 'tell external threads',
    // A notification normally finds a due thread; polls are for lost notifications and for processes that died.
    everyMs: 60_000,
    slots: publicationSlots,
    mostFound: mostDue,
    failedMs: heldMs,
    failure: { message: 'a thread could not be told; it is tried again', field: 'thread_id' },
    listen: (look) => listenToIntegrations(bus, look),
    find: (db, skipped, limit) =>
      integrationStore(db.read).threadsToTell(
        { by: clock.now(), rung: [...rung.keys()], skipped },
        limit,
      ),
    drive: tellOne,
    hasNews: (id) => rings.has(id),
  })

  return {
    ...job,
    async run(signal) {
      const now = clock.now()
      rung = new Map([...rings].filter(([, each]) => job.isFree(each)))
      for (const id of rung.keys()) rings.delete(id)
      for (const [id, { seenMs }] of listening) if (seenMs < now - listenedMs) forget(id)
      let isComplete: boolean | void = false
      try {
        isComplete = await job.run(signal)
      } finally {
        // Keep the threads that found no room, and all of them where a database failed. The others wait for their
        // receivers, or are deleted.
        for (const [id, each] of rung) if (!isComplete || !job.isFree(each)) rings.set(id, each)
      }
      return isComplete
    },
    start(runNow) {
      lookNow = runNow
      const end = job.start(runNow)
      return async () => {
        await end()
        for (const thread of [...listening.keys()]) forget(thread)
      }
    },
  }
}
