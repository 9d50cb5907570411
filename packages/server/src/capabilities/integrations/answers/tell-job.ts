/**
 * Tells threads the news of their sessions. Every process looks for due threads; leases decide which process tells one.
 */
import type { Job } from '../../../ground/core/time/jobs.ts'
import { startFound } from '../../../ground/core/fairness/work-slots.ts'
import type { Database } from '../../../ground/database/database.ts'
import { runOnEach } from '../../../ground/database/database.ts'
import { listenToSession } from '../../../sessions/log/topics.ts'
import { createNearestAlarm } from '../../../ground/core/time/nearest-alarm.ts'
import type { DueThread } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { ThreadLook } from './tell.ts'
import { listenToIntegrations } from '../topics.ts'
import { createWorkInFlight } from '../work-in-flight.ts'
import type { JobContext } from '../job-context.ts'
import type { Ground } from '../../../ground/ground.ts'

/**
 * Poll interval. A notification normally finds a due thread; polls are for lost notifications and for processes that
 * died.
 */
const everyMs = 60_000
const mostDue = 200
/** The wait after which the job looks at a thread again, when another process has it or telling it failed. */
const heldMs = 15_000
/**
 * The time for which the job listens to a thread after its last look. A thread without a look was deleted, or another
 * process tells it.
 */
const listenedMs = 10 * 60_000

export function tellJob({
  databases,
  bus,
  clock,
  log,
  tell,
}: Ground & {
  /** Resolves to undefined when another process has the thread. */
  tell: (context: JobContext, id: string) => Promise<ThreadLook | undefined>
}): Job {
  /** Threads whose sessions are running. */
  const listening = new Map<string, { session: string; stop: () => void; seenMs: number }>()
  /** Threads whose sessions have news. */
  const rings = new Map<string, DueThread>()
  let lookNow = () => {}
  const flight = createWorkInFlight(({ id }, isAwaited) => {
    if (isAwaited || rings.has(id)) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

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

  async function tellOne(db: Database, thread: DueThread, signal: AbortSignal): Promise<void> {
    const { id, tenant_id: tenant } = thread
    // Listen before reading the log: later events then notify again.
    listen(thread)
    const told = await tell({ db, tenant, signal }, id).catch((error: unknown) => {
      log.error('a thread could not be told; it is tried again', { error, thread_id: id })
    })
    if (!told) {
      // Another process has the thread, and may die with it.
      flight.restUntil(id, clock.now() + heldMs)
      alarm.set(clock.now() + heldMs, signal)
    }
    if (!told?.isRunning && !rings.has(id)) forget(id)
    if (told?.at !== undefined) alarm.set(told.at, signal)
  }

  async function startAll(db: Database, rung: Map<string, DueThread>, signal: AbortSignal) {
    function due() {
      const now = clock.now()
      const asked = { by: now, rung: [...rung.keys()], skipped: flight.skipped(now) }
      return integrationStore(db.read).threadsToTell(asked, mostDue)
    }
    function start(each: DueThread): boolean {
      const isStarted = !signal.aborted && flight.start(each, () => tellOne(db, each, signal))
      if (isStarted) rung.delete(each.id)
      return isStarted
    }
    await startFound(mostDue, due, start)
  }

  return {
    name: 'tell external threads',
    everyMs,
    async run(signal) {
      const now = clock.now()
      const rung = new Map([...rings].filter(([, each]) => flight.isFree(each, now)))
      for (const id of rung.keys()) rings.delete(id)
      for (const [id, { seenMs }] of listening) if (seenMs < now - listenedMs) forget(id)
      let isComplete = false
      try {
        isComplete = await runOnEach(databases.due(), async (db) => {
          await startAll(db, rung, signal)
          return true
        })
      } finally {
        // Keep the threads that found no room, and all of them where a database failed. The others wait for their
        // receivers, or are deleted.
        for (const [id, each] of rung)
          if (!isComplete || !flight.isFree(each, now)) rings.set(id, each)
      }
      return true
    },
    start(runNow) {
      lookNow = runNow
      const unsubscribe = listenToIntegrations(bus, runNow)
      return async () => {
        unsubscribe()
        alarm.stop()
        await flight.end()
        for (const thread of [...listening.keys()]) forget(thread)
      }
    },
  }
}
