/** Wakes on work, drains sessions, sweeps for missed rings, stops cleanly. It never meets the API. */
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../core/log.ts'
import type { Database, Databases } from '../database/database.ts'
import { beat, unowned } from '../database/lease.ts'
import { interruptsFor } from '../events/inbox.ts'
import type { Work } from '../events/topics.ts'
import { hear, hearWork } from '../events/topics.ts'
import type { DrainDeps } from './drain.ts'
import { drain } from './drain.ts'

const sweepMs = 1_000
const beatMs = 5_000
const sweepLimit = 500

export type RunnerDeps = Omit<DrainDeps, 'database' | 'running'> & {
  databases: Databases
  log: Log
  bus: Bus
  most: number
}

type Running = {
  work: Work
  /** Rung while it drained: look once more. */
  again: boolean
  interrupt: () => void
  done: Promise<void>
}

export function runner(deps: RunnerDeps) {
  const { databases, bus, clock, log, most } = deps
  const running = new Map<string, Running>()
  const stopping = new AbortController()
  const quiet = hearWork(bus, (work) => start(work))
  const timers = [
    setInterval(() => guard(sweep), sweepMs),
    setInterval(() => guard(prolong), beatMs),
  ]

  function guard(task: () => Promise<void>): void {
    task().catch((error: unknown) => log.error('a sweep for work failed', { error }))
  }

  function start(work: Work, dead: readonly string[] = []): void {
    const known = running.get(work.session)
    if (known) {
      known.again = true
      return
    }
    // What finds no room here is found by the next sweep.
    if (stopping.signal.aborted || running.size >= most) return
    const each: Running = { work, again: false, interrupt: () => {}, done: Promise.resolve() }
    running.set(work.session, each)
    each.done = run(each, dead).catch((error: unknown) =>
      log.error('a session could not be drained; it stays due', {
        error,
        session_id: work.session,
      }),
    )
  }

  async function run(each: Running, dead: readonly string[]): Promise<void> {
    const { work } = each
    const database = databases.of(work.tenant)
    const look = () => guard(() => interruptIf(database, [work.session]))
    const unhear = hear(bus, work.session, (word) => word.kind === 'interrupt' && look())
    const signals = {
      stopping: stopping.signal,
      interrupt: (abort: () => void) => {
        each.interrupt = abort
        // One that came before is found by a look, which need not keep the model waiting.
        setImmediate(look)
      },
    }
    try {
      do {
        each.again = false
        await drain({ ...deps, database, running: () => running.size }, work, signals, dead)
      } while (each.again && !stopping.signal.aborted)
    } finally {
      unhear()
      running.delete(work.session)
    }
  }

  /** Finds sessions that are due and held by nobody alive, and interrupts whose ring was lost. */
  async function sweep(): Promise<void> {
    for (const database of databases.all()) {
      const due = await unowned(database, clock.now(), sweepLimit)
      for (const { tenant_id, session_id, dead } of due)
        start({ tenant: tenant_id, session: session_id }, dead)
      await interruptIf(database, [...running.keys()])
    }
  }

  /** The inbox decides, not the ring: one that was settled meanwhile must not stop the next turn. */
  async function interruptIf(database: Database, sessions: string[]): Promise<void> {
    if (sessions.length === 0) return
    // Those of now: when the answer comes, the interrupt may be settled and another turn be running.
    const turns = new Map(sessions.map((session) => [session, running.get(session)?.interrupt]))
    for (const session of await interruptsFor(database.read, sessions)) turns.get(session)?.()
  }

  async function prolong(): Promise<void> {
    if (running.size === 0) return
    for (const database of databases.all()) {
      await database.write((tx) => beat(tx, database.owners.self, clock.now()))
    }
  }

  return {
    /** Sessions being drained now. */
    running: () => running.size,
    /** Looks for work at once, as at a start. */
    sweep,
    /** Turns are left where they stand and their leases given back, so that another process goes on with them. */
    async stop(): Promise<void> {
      quiet()
      for (const timer of timers) clearInterval(timer)
      stopping.abort()
      await Promise.all([...running.values()].map((each) => each.done))
    },
  }
}
