/** Runs all pending work of one session and returns when the session rests. A lease allows one drain a session across processes. */
import type { OpenCall, RunTurn, Turn, TurnEnd } from '@steward/harness/turn.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { SessionFailure } from '@steward/protocol/events.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import { eventLoop } from '../../ground/core/loop.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Fence } from '../../ground/database/lease.ts'
import { claim, expire, release } from '../../ground/database/lease.ts'
import { followCalls } from '../../sessions/log/calls.ts'
import { appendAlone } from '../../sessions/log/append.ts'
import type { Entry, PricedModel } from '../../sessions/log/log.ts'
import type { Head } from '../../sessions/log/head.ts'
import { hasBudgetLeft, noPrice, withPrices } from './spending.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import { newEvents, notify, notifyRunners } from '../../sessions/log/topics.ts'
import { finishTurn } from './finish.ts'
import { frameSender } from './frames.ts'
import { openOf } from './open-calls.ts'
import type { Place } from './place.ts'
import { claimTurn, finishPlainTurn, headAfter } from './plain-turns.ts'
import type { SessionLease, Step } from './steps.ts'
import type { EndedTurn } from './observations.ts'
import { turnEnded } from './observations.ts'
import { nextStep, settleDeleted } from './steps.ts'

export type DrainDeps = {
  database: Database
  bus: Bus
  clock: Clock
  log: Log
  runTurn: RunTurn
  /** Number of sessions that this process runs now. */
  running: () => number
  /** Builds everything a turn needs besides its open calls, or returns why the session cannot have a turn now. */
  assemble: (work: ClaimedWork) => Promise<Assembled>
  /** Ends the session's sandbox in this process, because another process has taken the session over. */
  abandon: (work: WorkNotice) => Promise<void>
  /** Removes everything that a deleted session left on this machine. */
  remove: (work: WorkNotice) => Promise<void>
}

export type ClaimedWork = WorkNotice & Pick<Fence, 'generation'>

export type Assembled =
  /** `rested` is called when the turn is over and before its end is stored. `release` is called in every case. */
  | {
      ok: true
      parts: Omit<Turn, 'open' | 'signal' | 'sleep'>
      model: PricedModel
      /** True when the session's tools run on workers, which claim the session from the queue. */
      isElsewhere: boolean
      rested: () => Promise<void>
      release: () => void
    }
  | { ok: false; failure: SessionFailure }

export type Signals = {
  /** The server stops: the turn is left for the next process as soon as none of its tool calls runs. */
  stopping: AbortSignal
  /** The turn is left at once and its running tool calls are aborted. */
  cut: AbortSignal
  /** Called at the start of each turn with the function that an interrupt calls. */
  interrupt: (abort: () => void) => void
  place: Pick<Place, 'hold' | 'pause'>
}

/** Returns `busy` while another process holds the session, and `lost` when another process took the session over. */
export async function drain(
  deps: DrainDeps,
  work: WorkNotice,
  signals: Signals,
  dead: readonly string[],
): Promise<'rested' | 'busy' | 'lost'> {
  const { database, clock } = deps
  const { tenant, session } = work
  const now = () => clock.now()
  const begin = (tx: Queries, place: SessionLease) =>
    nextStep(tx, place, { now: now(), claimed: true })
  const begun = await claimTurn(database, work, { now: now(), dead })
  if (begun === 'busy') return 'busy'
  const claimed =
    begun ??
    (await database.write(async (tx) => {
      const lease = await claim(tx, session, { owner: database.owners.self, dead, now: now() })
      if (!lease) return undefined
      const { isTakenOver, ...fence } = lease
      const place: SessionLease = { tenant, session, fence }
      // The recovery is in the log before the turn continues, because the turn may end this process too.
      return { place, ...(!isTakenOver && { step: await begin(tx, place) }) }
    }))
  if (!claimed) return 'busy'
  const { place } = claimed
  try {
    const step = claimed.step ?? (await database.write((tx) => begin(tx, place)))
    return await runSteps(deps, place, step, signals)
  } catch (error) {
    await expireLease(deps, place)
    throw error
  }
}

/** Lets the next process claim the session without waiting for the lease. Does not throw: the failure may be the database's. */
async function expireLease(
  { database, log }: DrainDeps,
  { session, fence }: SessionLease,
): Promise<void> {
  try {
    await database.write((tx) => expire(tx, session, fence))
  } catch (error) {
    log.warn('the lease of a session could not be ended; it runs out by itself', {
      error,
      session_id: session,
    })
  }
}

async function runSteps(
  deps: DrainDeps,
  place: SessionLease,
  first: Step,
  signals: Signals,
): Promise<'rested' | 'lost'> {
  const { database, bus, clock } = deps
  const { session } = place
  const now = () => clock.now()
  let step = await inLoopOrder(deps, place, first, signals, true)
  while (step.kind === 'turn') {
    const began = performance.now()
    const observeEnd = (stop: EndedTurn['stop']) =>
      turnEnded.tell({ session, stop, ms: performance.now() - began })
    const end = await turn(deps, place, step, signals).catch((error: unknown) =>
      failed(deps, session, error),
    )
    if (end === 'lost' || end === 'left') {
      observeEnd(end)
      return leave(deps, place, end === 'lost')
    }
    const outcome =
      (await finishPlainTurn(database, place, end, now())) ??
      (await database.write((tx) => finishTurn(tx, place, end, now())))
    notify(bus, session, newEvents)
    observeEnd(outcome === 'lost' ? outcome : end.stop.type)
    if (outcome === 'lost') return leave(deps, place, true)
    if (outcome === 'rest') return 'rested'
    if (signals.stopping.aborted) return leave(deps, place, false)
    const next = await database.write((tx) => nextStep(tx, place, { now: now(), claimed: false }))
    step = await inLoopOrder(deps, place, next, signals, false)
  }
  if (step.kind === 'heavy') return leave(deps, place, false)
  announceStep(bus, session, step.kind === 'rest' ? step : {})
  if (step.kind === 'lost') return leave(deps, place, true)
  if (step.kind === 'deleted') {
    await deps.remove(place)
    await database.write((tx) => settleDeleted(tx, place, now()))
  }
  return 'rested'
}

/** Repeats a large step in its turn of the event loop. Returns the step unchanged when the server stops while it waits. */
async function inLoopOrder(
  { database, clock }: DrainDeps,
  place: SessionLease,
  step: Step,
  { stopping }: Signals,
  claimed: boolean,
): Promise<Step> {
  if (step.kind !== 'heavy') return step
  await eventLoop.wait(place.tenant, 'write')
  if (stopping.aborted) return step
  return database.write((tx) =>
    nextStep(tx, place, { now: clock.now(), claimed, mostBytes: Infinity }),
  )
}

function once(call: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    call()
  }
}

function announceStep(bus: Bus, session: string, { promoted = [] }: { promoted?: string[] }): void {
  if (promoted.length > 0) notify(bus, session, { kind: 'promoted', ids: promoted })
  notify(bus, session, newEvents)
}

async function leave(
  deps: DrainDeps,
  place: SessionLease,
  lost: boolean,
): Promise<'lost' | 'rested'> {
  if (lost) {
    deps.log.warn('a session was taken over by another process', { session_id: place.session })
    await deps.abandon(place)
    return 'lost'
  }
  await deps.database.write((tx) => release(tx, place.session, place.fence))
  // The next process need not wait for its look at due sessions. This process no longer receives its own notification.
  notifyRunners(deps.bus, { tenant: place.tenant, session: place.session })
  return 'rested'
}

/** Runs one turn. An event is stored before the turn continues; a streamed piece is published and not stored. */
async function turn(
  deps: DrainDeps,
  place: SessionLease,
  step: Extract<Step, { kind: 'turn' }>,
  signals: Signals,
): Promise<End | 'lost' | 'left'> {
  const { database, bus, clock } = deps
  const { tenant, session, fence } = place
  await signals.place.hold(signals.stopping)
  if (signals.stopping.aborted) return 'left'
  const stop = new AbortController()
  signals.interrupt(() => stop.abort())
  const assembled = await deps.assemble({ tenant, session, generation: fence.generation })
  if (!assembled.ok) return failedTurn(assembled.failure)
  const { model } = assembled
  if (step.isBudgeted && !model.price) return failedTurn(noPrice(model.name))
  const open = await openOf(database, tenant, session, step.open)
  const { begun } = step
  const leaving = leavingOf(signals, open)
  const signal = AbortSignal.any([stop.signal, leaving.signal])
  const sleep = signals.place.pause
  const steps = deps.runTurn({
    ...assembled.parts,
    open,
    signal,
    sleep,
    isLeft: () => signals.stopping.aborted,
    ...(begun ? { begun } : {}),
    ...(step.isBudgeted && { mayAsk: () => hasBudgetLeft(database.read, place) }),
  })
  // Ask the model first and notify readers afterwards: readers wait for the answer, not for the event of the question.
  let coming = steps.next()
  let { head } = step
  const announce = once(() => announceStep(bus, session, step))
  setImmediate(announce)
  const frames = frameSender(
    (list) => notify(bus, session, { kind: 'frames', frames: list }),
    deps.running,
  )
  try {
    for (;;) {
      const next = await coming
      announce()
      if (leaving.signal.aborted) return 'left'
      if (next.done) {
        await assembled.rested()
        const last = withPrices(next.value.last, model)
        return { ...next.value, last, isElsewhere: assembled.isElsewhere, head }
      }
      if (next.value.type === 'frame') {
        frames.push(next.value.frame)
      } else {
        const kept = withPrices(next.value.kept, model)
        frames.flush()
        const at = { now: clock.now(), fence }
        const written = await appendAlone(database, { tenant, sessionId: session }, kept, at).catch(
          (cause: unknown) => Promise.reject(new NotKept(cause)),
        )
        if (!written) return 'lost'
        head &&= headAfter(head, kept, written.last)
        notify(bus, session, newEvents)
        leaving.follow(kept)
        if (leaving.signal.aborted) return 'left'
      }
      coming = steps.next()
    }
  } finally {
    frames.flush()
    leaving.end()
    // Tools may still run when the lease was lost; they end with the turn. A string as the reason avoids creating an error.
    stop.abort('the turn is over')
    await steps.return({ stop: { type: 'end_turn' }, last: [] })
    assembled.release()
  }
}

/**
 * The signal by which a stopping server leaves a turn. It aborts at once when no tool call runs, else after the last result, and always at
 * `cut`.
 */
function leavingOf({ stopping, cut }: Signals, open: readonly OpenCall[]) {
  const leaving = new AbortController()
  const running = new Set(
    open.flatMap(({ event_id, decision }) => (decision === 'run' ? [event_id] : [])),
  )
  const leave = () => leaving.abort('the server stops')
  const look = () => {
    if (stopping.aborted && running.size === 0) leave()
  }
  stopping.addEventListener('abort', look)
  cut.addEventListener('abort', leave)
  look()
  return {
    signal: leaving.signal,
    follow(kept: readonly Entry[]): void {
      followCalls(
        running,
        kept.map(({ event }) => event),
      )
      look()
    },
    end(): void {
      stopping.removeEventListener('abort', look)
      cut.removeEventListener('abort', leave)
    },
  }
}

/** `isElsewhere`: see `Assembled`; undefined when the turn could not be assembled. */
type End = { stop: TurnEnd['stop']; last: Entry[]; isElsewhere?: boolean; head?: Head | undefined }

/** Ends the turn with a `session.error`; the session is idle afterwards. */
function failedTurn(failure: SessionFailure): End {
  const error = { ...failure, retry_status: { type: 'exhausted' as const } }
  return {
    stop: { type: 'retries_exhausted' },
    last: [{ event: { id: newId('event'), type: 'session.error', error } }],
  }
}

/** The database did not store an event of the turn. The turn is not over: the next drain recovers it as after a crash. */
class NotKept extends Error {
  constructor(cause: unknown) {
    super('what a turn did could not be kept', { cause })
  }
}

/** A `TurnFailed` is shown to the session as it is. Any other error is a bug: the log has all of it, the session only that it happened. */
function failed({ log }: DrainDeps, session: string, error: unknown): End {
  if (error instanceof NotKept || error instanceof StorageError) throw error
  if (error instanceof TurnFailed) return failedTurn(error.failure)
  log.error('a turn failed', { error, session_id: session })
  return failedTurn({
    type: 'unknown_error',
    message: 'the turn could not go on; the log of the server says why',
  })
}
