/**
 * Starts drains when notified, finds work whose notification was lost, and stops cleanly. The runner never calls the
 * API.
 */
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { prolongHeads } from '../../ground/database/lease.ts'
import type { Ground } from '../../ground/ground.ts'
import { interruptsFor } from '../../sessions/log/inbox-end.ts'
import type { MissedNotice, SessionNotification, WorkNotice } from '../../sessions/log/topics.ts'
import { listenToSession, listenForWork } from '../../sessions/log/topics.ts'
import type { TurnParts } from './turn-deps.ts'
import { drainSession } from './drain.ts'
import { tenantsInTurn } from './tenant-turns.ts'
import { recoveryLane } from './recovery-lane.ts'
import type { SessionSlot, RunnerShares } from './session-slot.ts'
import { takeSlot } from './session-slot.ts'

const lookMs = 1_000
const beatMs = 5_000
/** Delays before a session whose drain failed is tried again: after the first failure, the second, … */
const retryDelaysMs = [500, 1_000, 2_000, 5_000, 10_000]
/** Number of leases in one statement; both databases limit its parameters. */
const beatsAtOnce = 500

/** `stopMs`: time for running tool calls to end once the runner stops. */
export type RunnerDeps = Ground & TurnParts & RunnerShares & { stopMs: number }

type RunningSession = {
  work: WorkNotice
  /** True when a notification came during the drain, so that the session must be drained again. */
  again: boolean
  /** True when something may have come to the session since its turn last looked. */
  hasNews: boolean
  /** Number of failed drains in a row before this one. */
  failures: number
  /** Functions that interrupt the running turn, by thread; undefined stands for the primary thread. */
  interrupts: Map<string | undefined, () => void>
  /** Looks for threads that have work. */
  wake: () => void
  slot: SessionSlot
  done: Promise<void>
}

const createRun = (work: WorkNotice, slot: SessionSlot, failures: number): RunningSession => ({
  work,
  slot,
  failures,
  again: false,
  hasNews: false,
  interrupts: new Map(),
  wake: () => {},
  done: Promise.resolve(),
})

/** The sessions that run here, by the databases of their tenants. */
async function runningIn(
  databases: Databases,
  running: ReadonlyMap<string, RunningSession>,
): Promise<Map<Database, string[]>> {
  const sessions = new Map<Database, string[]>()
  for (const { work } of [...running.values()]) {
    // When the database cannot be opened, the drain fails and logs the error.
    const database = await databases.open(work.tenant).catch(() => undefined)
    if (!database) continue
    const known = sessions.get(database)
    if (known) known.push(work.session)
    else sessions.set(database, [work.session])
  }
  return sessions
}

/** Extends the leases of the sessions that run here, and of no others: a failed drain must lose its lease. */
async function prolong(running: ReadonlyMap<Database, string[]>, now: number): Promise<void> {
  const failures: unknown[] = []
  for (const [database, sessions] of running)
    await collectFailure(failures, async () => {
      for (let at = 0; at < sessions.length; at += beatsAtOnce) {
        const some = sessions.slice(at, at + beatsAtOnce)
        await database.write((tx) => prolongHeads(tx, database.owners.self, some, now))
      }
    })
  throwFailures(failures)
}

/**
 * Interrupts the turns whose inbox holds an interrupt. The notification alone does not count: the interrupt may be
 * settled already, and the next turn must not stop.
 */
async function interruptIf(
  database: Database,
  running: ReadonlyMap<string, RunningSession>,
  sessions: string[],
): Promise<void> {
  if (sessions.length === 0) return
  // Read the turns now: when the query returns, the interrupt may be settled and another turn may run.
  const turns = new Map(
    sessions.map((session) => [session, new Map(running.get(session)?.interrupts)]),
  )
  for (const { session, thread } of await interruptsFor(database.read, sessions))
    turns.get(session)?.get(thread)?.()
}

/**
 * `hear` receives notifications of the session. `begin` receives the function that interrupts the next turn; `look`
 * calls that function when an interrupt waits.
 */
function interruptible(each: RunningSession, look: () => void) {
  /** True when an interrupt may have arrived since the last turn began. */
  let wasTold = false
  return {
    hear({ kind }: SessionNotification | MissedNotice): void {
      if (kind === 'new_events') return
      wasTold = true
      look()
    },
    begin(abort: () => void, thread: string | undefined): void {
      each.interrupts.set(thread, abort)
      // The interrupt may have come after the step that began the turn. Look after the model request has been sent.
      if (wasTold) setImmediate(look)
      wasTold = false
    },
  }
}

const signalsOf = (
  each: RunningSession,
  interrupts: ReturnType<typeof interruptible>,
  guard: (task: () => Promise<void>) => void,
) => ({
  interrupt: (abort: () => void, thread?: string) => interrupts.begin(abort, thread),
  wake: (look: () => Promise<void>) => (each.wake = () => guard(look)),
  takeNews() {
    const { hasNews } = each
    each.hasNews = false
    return hasNews
  },
  slot: each.slot,
})

export function createRunner(deps: RunnerDeps) {
  const { databases, bus, clock, log, stopMs } = deps
  const running = new Map<string, RunningSession>()
  const own = { ...deps, recoveries: recoveryLane(clock), running: () => running.size }
  /** Sessions whose drain failed and that wait for the next attempt. */
  const pausing = new Set<string>()
  const stopping = new AbortController()
  const cut = new AbortController()
  const quiet = listenForWork(bus, (work) => start(work))
  const jobs: Job[] = [
    { name: 'look for sessions with work', everyMs: lookMs, run: lookForWork },
    { name: 'extend leases of sessions', everyMs: beatMs, run: extendLeases },
  ]
  const due = tenantsInTurn({
    ...deps,
    guard,
    signal: stopping.signal,
    isRunning: (session) => running.has(session),
    start: (work, dead) => start(work, dead),
  })

  /** Not awaited: a connection that does not answer must not hold the next extension, which another one may carry. */
  async function extendLeases(): Promise<void> {
    guard(async () => prolong(await runningIn(databases, running), clock.now()))
  }

  function guard(task: () => Promise<void>): void {
    task().catch((error: unknown) => log.error('looking for work failed', { error }))
  }

  function start(work: WorkNotice, dead: readonly string[] = [], failures = 0): void {
    const known = running.get(work.session)
    if (known) {
      Object.assign(known, { again: true, hasNews: true })
      known.wake()
      return
    }
    if (stopping.signal.aborted || pausing.has(work.session)) return
    const slot = takeSlot(deps, work.tenant, () => due.left())
    if (!slot) return due.full()
    const each = createRun(work, slot, failures)
    running.set(work.session, each)
    each.done = run(each, dead)
      .catch((error: unknown) => {
        log.error('a session could not be drained; it is tried again', {
          error,
          session_id: work.session,
        })
        void retry(each)
      })
      .finally(() => slot.leave())
  }

  /**
   * Repeats a failed drain after a delay. A look at due sessions would repeat it each second, and only if the lease
   * could be ended.
   */
  async function retry({ work, failures }: RunningSession): Promise<void> {
    pausing.add(work.session)
    const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 0
    await clock.sleep(delayMs, stopping.signal)
    pausing.delete(work.session)
    start(work, [], failures + 1)
  }

  async function run(each: RunningSession, dead: readonly string[]): Promise<void> {
    const { work } = each
    let unsubscribe = () => {}
    try {
      const database = await databases.open(work.tenant)
      const look = () => guard(() => interruptIf(database, running, [work.session]))
      const interrupts = interruptible(each, look)
      unsubscribe = listenToSession(bus, work.session, (word) => interrupts.hear(word))
      const signals = {
        stopping: stopping.signal,
        cut: cut.signal,
        ...signalsOf(each, interrupts, guard),
      }
      do {
        each.again = false
        await drainSession({ ...own, database }, work, signals, dead)
        each.failures = 0
      } while (each.again && !stopping.signal.aborted)
    } finally {
      unsubscribe()
      running.delete(work.session)
    }
  }

  /**
   * Starts due sessions that no living process owns, and finds interrupts and due threads whose notification was lost.
   */
  async function lookForWork(): Promise<void> {
    const failures: unknown[] = []
    await collectFailure(failures, due.look)
    for (const each of running.values()) each.wake()
    for (const [database, sessions] of await runningIn(databases, running))
      await collectFailure(failures, () => interruptIf(database, running, sessions))
    throwFailures(failures)
  }

  return {
    /** Number of sessions that are being drained. */
    running: () => running.size,
    /** Looks for work at once. */
    lookForWork,
    /** Jobs that run until the runner has stopped, because running tool calls may last longer than a lease. */
    jobs,
    /**
     * Starts no more drains. Leaves each turn when its running tool calls have ended, at the latest after `stopMs`.
     * Releases the leases, so that another process continues at once.
     */
    async stop(): Promise<void> {
      quiet()
      due.stop()
      stopping.abort()
      const ended = new AbortController()
      void clock.sleep(stopMs, ended.signal).then(() => cut.abort())
      await Promise.all([...running.values()].map((each) => each.done))
      ended.abort()
    },
  }
}
