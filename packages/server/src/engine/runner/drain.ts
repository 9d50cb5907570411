/**
 * Runs all pending work of one session and returns when the session rests. A lease allows one drain a session across
 * processes.
 */
import { eventLoop } from '../../ground/core/fairness/event-loop.ts'
import type { Queries } from '../../ground/database/database.ts'
import { acceptedEvent } from './accepted-event.ts'
import { callOutput } from './call-output.ts'
import { claimHead } from '../../ground/database/lease.ts'
import { dueThreads } from '../../sessions/log/threads/due.ts'
import { hasBudgetLeft, noPrice, withPrices } from './spending.ts'
import { isOfTurn } from '../../sessions/log/head.ts'
import { lastSteering } from '../../sessions/log/inbox.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import { sendFrames } from '../../sessions/log/topics.ts'
import { finishTurn, joinMessages } from './finish-turn.ts'
import type { FailedEnd } from './failed-turn.ts'
import { EventNotStored, failedTurnBy, failedTurn } from './failed-turn.ts'
import { expireLease, leaveSession } from './lease-end.ts'
import { turnStop, createTurnSleep } from './turn-stop.ts'
import { frameSender } from './frames.ts'
import { readOpenCalls } from './open-calls.ts'
import { lateNotices } from './late-notices.ts'
import { judgeOutcome } from './outcomes/finish.ts'
import { claimTurn, finishPlainTurn, headAfter } from './plain-turns.ts'
import { takeUp } from './take-up.ts'
import type { SessionLease, Step } from './steps.ts'
import type { EndedTurn } from './observations.ts'
import { turnEnded } from './observations.ts'
import { nextStep, settleDeleted } from './steps.ts'
import type { LoopEnd } from './threads/crew.ts'
import { runCrew } from './threads/crew.ts'
import { followTeam } from './threads/follow-team.ts'
import { storeTurnEvents } from './threads/store-events.ts'
import type { DrainDeps, TurnSignals, ThreadDeps, ThreadStart } from './turn-deps.ts'

/** Returns `busy` while another process holds the session, and `lost` when another process took the session over. */
export async function drainSession(
  deps: DrainDeps,
  work: WorkNotice,
  signals: TurnSignals,
  dead: readonly string[],
): Promise<'rested' | 'busy' | 'lost'> {
  const { database, clock } = deps
  const { tenant, session } = work
  const now = () => clock.now()
  const begin = (tx: Queries, lease: SessionLease, isFirst = true) =>
    nextStep(tx, lease, { now: now(), claimed: isFirst })
  const steps = lateNotices(deps)
  const begun = await claimTurn(steps.database, work, { now: now(), dead })
  if (begun === 'busy') return 'busy'
  const claimed =
    begun ??
    (await steps.database.write(async (tx) => {
      const lease = await claimHead(tx, session, { owner: database.owners.self, dead, now: now() })
      if (!lease) return undefined
      const { isTakenOver, threads, ...fence } = lease
      const held: SessionLease = { tenant, session, fence }
      if (threads === 1) return { lease: held, due: await dueThreads(tx, work) }
      // After a takeover this commit counts the recovery and nothing else: whatever comes next may end this process too.
      return { lease: held, ...(!isTakenOver && { step: await begin(tx, held) }) }
    }))
  if (!claimed) return 'busy'
  const { lease: sessionLease } = claimed
  let first = 'step' in claimed ? claimed.step : undefined
  try {
    const due = ('due' in claimed && claimed.due) || [undefined]
    const end = await runCrew(session, due, async (crew, thread, isFirst, given) => {
      if ('due' in claimed) followTeam(deps, sessionLease, signals, crew)
      const own = thread === undefined ? sessionLease : { ...sessionLease, thread }
      const known = thread === undefined ? first : given
      first = undefined
      const step = known ?? (await steps.database.write((tx) => begin(tx, own, isFirst)))
      return runSteps({ ...deps, crew, steps }, own, step, signals)
    })
    return await leaveSession(deps, sessionLease, end)
  } catch (error) {
    await expireLease(deps, sessionLease)
    throw error
  } finally {
    steps.publish()
  }
}

async function runSteps(
  deps: ThreadDeps,
  lease: SessionLease,
  first: Step,
  signals: TurnSignals,
): Promise<LoopEnd> {
  const { database, steps, clock } = deps
  const now = () => clock.now()
  let step = await inLoopOrder(deps, lease, first, signals, { claimed: true })
  if (!isWork(step) && lease.thread !== undefined) deps.crew.start(undefined)
  while (isWork(step)) {
    const { progressed, hasWaited } = await takeUp(deps, lease, step, signals)
    const told = { ...signals, progressed }
    const work = hasWaited ? followingStep(deps, lease, signals, true) : Promise.resolve(step)
    const next = await work
      .then((each) => (isWork(each) ? worked(deps, lease, each, told) : each))
      .finally(progressed)
    if (typeof next === 'string') return next
    step = next
  }
  if (step.kind === 'heavy') return 'left'
  steps.publish()
  if (step.kind === 'lost') return 'lost'
  if (step.kind === 'deleted') {
    await deps.remove(lease)
    await database.write((tx) => settleDeleted(tx, lease, now()))
  }
  return 'rested'
}

type Work = Extract<Step, { kind: 'turn' | 'evaluation' }>

/** Does the work of the step, and returns what follows. */
async function worked(
  deps: ThreadDeps,
  lease: SessionLease,
  step: Work,
  signals: TurnSignals,
): Promise<Step | LoopEnd> {
  if (step.kind === 'evaluation') return judgeOutcome(deps, lease, step, signals)
  const end = await endedTurn(deps, lease, step, signals)
  if (end !== 'more') return end
  return followingStep(deps, lease, signals, false)
}

/** Runs a turn and stores its end. `more`: its thread has work at once. */
async function endedTurn(
  deps: ThreadDeps,
  lease: SessionLease,
  step: Extract<Step, { kind: 'turn' }>,
  signals: TurnSignals,
): Promise<LoopEnd | 'more'> {
  const { database, steps, clock, crew } = deps
  const { session, thread } = lease
  const began = performance.now()
  const observeEnd = (stop: EndedTurn['stop']) =>
    turnEnded.tell({ session, stop, ms: performance.now() - began })
  const end = await turn(deps, lease, step, signals).catch((error: unknown) =>
    failedTurnBy(deps, session, error),
  )
  if (end === 'lost' || end === 'left') {
    observeEnd(end)
    return end
  }
  steps.publish()
  const outcome =
    (await finishPlainTurn(database, lease, end, clock.now())) ??
    (await database.write((tx) => finishTurn(tx, lease, end, clock.now())))
  observeEnd(outcome === 'lost' ? outcome : end.stop.type)
  // The end of a child's turn may be the beginning of its parent's.
  if (outcome !== 'lost' && thread !== undefined) crew.start(undefined)
  if (outcome !== 'more') return outcome === 'rest' ? 'rested' : outcome
  crew.notice()
  return signals.stopping.aborted ? 'left' : outcome
}

const isWork = (step: Step): step is Work => step.kind === 'turn' || step.kind === 'evaluation'

function tellProgress(kept: readonly LogEntry[], { progressed }: TurnSignals): void {
  if (kept.some(({ event }) => isOfTurn(event))) progressed?.()
}

/** Runs one turn. An event is stored before the turn continues; a streamed piece is published and not stored. */
async function turn(
  deps: ThreadDeps,
  lease: SessionLease,
  step: Extract<Step, { kind: 'turn' }>,
  signals: TurnSignals,
): Promise<FailedEnd | 'lost' | 'left'> {
  const { database, bus, crew, steps: late } = deps
  const { tenant, session, thread, fence } = lease
  await signals.slot.hold(signals.stopping)
  if (signals.stopping.aborted) return 'left'
  const stop = new AbortController()
  signals.interrupt(() => stop.abort(), thread)
  const { generation } = fence
  const begin = (threads: readonly ThreadStart[]) => {
    if (threads.length > 0) followTeam(deps, lease, signals, crew)
    for (const each of threads)
      if (typeof each === 'string') crew.start(each)
      else each()
  }
  const assembled = await deps.assemble({ tenant, session, thread, generation, crew, begin })
  if (!assembled.ok) return failedTurn(assembled.failure)
  const { model } = assembled
  if (step.isBudgeted && !model.price) return failedTurn(noPrice(model.name))
  const open = await readOpenCalls(database, tenant, session, step.open)
  const { begun } = step
  const leaving = turnStop(signals, crew, open)
  const signal = AbortSignal.any([stop.signal, leaving.signal])
  let { head } = step
  let mayHaveNews = step.hasWaiting === true
  const steps = deps.runTurn({
    ...assembled.parts,
    open,
    signal,
    sleep: createTurnSleep(deps, signals),
    isLeft: () => signals.stopping.aborted,
    output: callOutput(bus, thread ?? session),
    joined: async () => {
      if (!mayHaveNews && !signals.takeNews()) return undefined
      mayHaveNews = false
      if (!(await joinedHere(deps, lease))) return undefined
      head = undefined
      return assembled.readHistory()
    },
    accepted: () => acceptedEvent(database.read, lease).catch(() => undefined),
    ...(begun ? { begun } : {}),
    ...(step.isBudgeted && { mayAsk: () => hasBudgetLeft(database.read, lease) }),
  })
  // Ask the model first and notify readers afterwards: readers wait for the answer, not for the event of the question.
  let coming = steps.next()
  setImmediate(late.publish)
  const frames = frameSender((list) => sendFrames(bus, thread ?? session, list), deps.running)
  try {
    for (;;) {
      const next = await coming
      late.publish()
      if (leaving.signal.aborted) return 'left'
      if (next.done) {
        await assembled.rested()
        const last = withPrices(next.value.last, model)
        return { ...next.value, last, isElsewhere: assembled.isElsewhere, head }
      }
      if (next.value.type === 'frame') {
        frames.push(next.value.frame)
        coming = steps.next()
        continue
      }
      const kept = withPrices(next.value.kept, model)
      frames.flush()
      const stored = await storeTurnEvents(deps, lease, { ...next.value, kept }, assembled.roster)
      if (!stored) return 'lost'
      tellProgress(kept, signals)
      head &&= headAfter(head, kept, stored.last)
      begin(stored.starts)
      leaving.follow(stored.kept)
      if (leaving.signal.aborted) return 'left'
      coming = steps.next(stored.reply)
    }
  } finally {
    frames.flush()
    leaving.end()
    // Tools may still run when the lease was lost; they end with the turn. A string as the reason avoids creating an
    // error.
    stop.abort('the turn is over')
    await steps.return({ stop: { type: 'end_turn' }, last: [] })
    assembled.release()
  }
}

/** Throws `EventNotStored` when the database fails. */
async function joinedHere({ database, clock }: ThreadDeps, lease: SessionLease): Promise<boolean> {
  try {
    if ((await lastSteering(database.read, lease)) === undefined) return false
    return await database.write((tx) => joinMessages(tx, lease, clock.now()))
  } catch (cause) {
    throw new EventNotStored(cause)
  }
}

/** The next step of a session that this process has claimed before. */
async function followingStep(
  deps: ThreadDeps,
  lease: SessionLease,
  signals: TurnSignals,
  hasWaited: boolean,
): Promise<Step> {
  const { steps, clock } = deps
  const moment = { claimed: false, hasWaited }
  const next = await steps.database.write((tx) =>
    nextStep(tx, lease, { ...moment, now: clock.now() }),
  )
  return inLoopOrder(deps, lease, next, signals, moment)
}

/**
 * Repeats a large step in its turn of the event loop. Returns the step unchanged when the server stops while it waits.
 */
async function inLoopOrder(
  { steps, clock }: ThreadDeps,
  lease: SessionLease,
  step: Step,
  { stopping }: TurnSignals,
  moment: { claimed: boolean; hasWaited?: boolean },
): Promise<Step> {
  if (step.kind !== 'heavy') return step
  await eventLoop.wait(lease.tenant, 'write')
  if (stopping.aborted) return step
  return steps.database.write((tx) =>
    nextStep(tx, lease, { ...moment, now: clock.now(), mostBytes: Infinity }),
  )
}
