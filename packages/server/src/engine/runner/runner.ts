/** Starts drains on notifications of work, finds work whose notification was lost, and stops cleanly. It never calls the API. */
import type { Bus } from '../../ground/bus/bus.ts'
import type { Log } from '@steward/base/log.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { beat } from '../../ground/database/lease.ts'
import { interruptsFor } from '../../sessions/log/inbox.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import { listenTo, listenForWork } from '../../sessions/log/topics.ts'
import type { DrainDeps } from './drain.ts'
import { drain } from './drain.ts'
import { tenantsInTurn } from './in-turn.ts'
import type { Place, RunnerShares } from './place.ts'
import { takePlace } from './place.ts'

const lookMs = 1_000
const beatMs = 5_000
/** Before a session whose drain failed is tried again: the first time, the second, … */
const retryDelaysMs = [500, 1_000, 2_000, 5_000, 10_000]
/** Leases that one statement prolongs; both databases bound its parameters. */
const beatsAtOnce = 500

export type RunnerDeps = Omit<DrainDeps, 'database' | 'running'> &
  RunnerShares & {
    databases: Databases
    log: Log
    bus: Bus
    /** How long tool calls that run may take to end, once the runner stops. */
    stopMs: number
  }

type Running = {
  work: WorkNotice
  /** Rung while it drained: look once more. */
  again: boolean
  /** Drains that failed in a row before this one. */
  failures: number
  interrupt: () => void
  place: Place
  done: Promise<void>
}

const createRun = (work: WorkNotice, place: Place, failures: number): Running => ({
  work,
  place,
  failures,
  again: false,
  interrupt: () => {},
  done: Promise.resolve(),
})

/** Of those alone that run here: a session whose drain failed must not be held by the others' beat. */
async function prolong(databases: Databases, sessions: string[], now: number): Promise<void> {
  for (const database of databases.all()) {
    for (let at = 0; at < sessions.length; at += beatsAtOnce) {
      const some = sessions.slice(at, at + beatsAtOnce)
      await database.write((tx) => beat(tx, database.owners.self, some, now))
    }
  }
}

/** The inbox decides, not the notification: an interrupt that was settled meanwhile must not stop the next turn. */
async function interruptIf(
  database: Database,
  running: ReadonlyMap<string, Running>,
  sessions: string[],
): Promise<void> {
  if (sessions.length === 0) return
  // Those of now: when the answer comes, the interrupt may be settled and another turn be running.
  const turns = new Map(sessions.map((session) => [session, running.get(session)?.interrupt]))
  for (const session of await interruptsFor(database.read, sessions)) turns.get(session)?.()
}

export function runner(deps: RunnerDeps) {
  const { databases, bus, clock, log, slots, stopMs } = deps
  const running = new Map<string, Running>()
  /** Sessions that wait to be tried again. */
  const pausing = new Set<string>()
  const stopping = new AbortController()
  const cut = new AbortController()
  const quiet = listenForWork(bus, (work) => start(work))
  const timers = [
    setInterval(() => guard(lookForWork), lookMs),
    setInterval(() => guard(() => prolong(databases, [...running.keys()], clock.now())), beatMs),
  ]
  const due = tenantsInTurn({
    databases,
    clock,
    slots,
    guard,
    signal: stopping.signal,
    start(work, dead) {
      if (!running.has(work.session)) start(work, dead)
    },
  })

  function guard(task: () => Promise<void>): void {
    task().catch((error: unknown) => log.error('a lookForWork for work failed', { error }))
  }

  function start(work: WorkNotice, dead: readonly string[] = [], failures = 0): void {
    const known = running.get(work.session)
    if (known) {
      known.again = true
      return
    }
    if (stopping.signal.aborted || pausing.has(work.session)) return
    const place = takePlace(deps, work.tenant, () => due.left())
    if (!place) return due.full()
    const each = createRun(work, place, failures)
    running.set(work.session, each)
    each.done = run(each, dead)
      .catch((error: unknown) => {
        log.error('a session could not be drained; it is tried again', {
          error,
          session_id: work.session,
        })
        void retry(each)
      })
      .finally(() => place.leave())
  }

  /** A look at due sessions would try it each second, and finds it only where its lease could be ended. */
  async function retry({ work, failures }: Running): Promise<void> {
    pausing.add(work.session)
    const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 0
    await clock.sleep(delayMs, stopping.signal)
    pausing.delete(work.session)
    start(work, [], failures + 1)
  }

  async function run(each: Running, dead: readonly string[]): Promise<void> {
    const { work } = each
    let unsubscribe = () => {}
    try {
      const database = await databases.open(work.tenant)
      const look = () => guard(() => interruptIf(database, running, [work.session]))
      unsubscribe = listenTo(bus, work.session, (word) => word.kind === 'interrupt' && look())
      const signals = {
        stopping: stopping.signal,
        cut: cut.signal,
        interrupt: (abort: () => void) => {
          each.interrupt = abort
          // One that came before is found by a look, which need not keep the model waiting.
          setImmediate(look)
        },
        place: each.place,
      }
      do {
        each.again = false
        await drain({ ...deps, database, running: () => running.size }, work, signals, dead)
        each.failures = 0
      } while (each.again && !stopping.signal.aborted)
    } finally {
      unsubscribe()
      running.delete(work.session)
    }
  }

  /** Finds sessions that are due and have no living owner, and interrupts whose notification was lost. */
  async function lookForWork(): Promise<void> {
    await due.look()
    for (const database of databases.all())
      await interruptIf(database, running, [...running.keys()])
  }

  return {
    /** Sessions being drained now. */
    running: () => running.size,
    /** Looks for work at once, as at a start. */
    lookForWork,
    /**
     * Begins nothing more, and leaves each turn when its running tool calls have ended, or when their time is over. Leases are
     * given back, so that another process goes on at once.
     */
    async stop(): Promise<void> {
      quiet()
      due.stop()
      stopping.abort()
      const ended = new AbortController()
      void clock.sleep(stopMs, ended.signal).then(() => cut.abort())
      await Promise.all([...running.values()].map((each) => each.done))
      ended.abort()
      // Until here: calls may run for longer than a lease.
      for (const timer of timers) clearInterval(timer)
    },
  }
}
