/**
 * Decides and records the next step of a session in one transaction: settle an interrupt, recover a turn of a dead
 * process, resume answered calls, promote messages, or rest.
 */
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { heavyBytes } from '../../ground/core/fairness/event-loop.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Fence } from '../../ground/database/lease.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { listOpenCalls, startCalls } from '../../sessions/log/calls.ts'
import type { Head, HeadChange, SessionState } from '../../sessions/log/head.ts'
import { stateOf } from '../../sessions/log/head.ts'
import { idleEntries, runningEntries } from '../../sessions/log/idle.ts'
import type { InboxItem } from '../../sessions/log/inbox.ts'
import { bytesWaiting, takeWaiting, readWaiting } from '../../sessions/log/inbox.ts'
import type { LogEntry, PromotedMessage } from '../../sessions/log/log.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { appendStep } from '../../sessions/log/threads/append.ts'
import {
  hasOthersDue,
  isWorking,
  findThreadForUpdate,
  readThread,
} from '../../sessions/log/threads/team.ts'
import { threadRowKey, threadStore } from '../../sessions/log/threads/store.ts'
import { stdioError } from '../../sessions/stdio-servers/readiness.ts'
import { outcomeStore } from '../../sessions/rows/outcomes.ts'
import { withdrawItem } from '../../sessions/work/queue.ts'
import { waysOn } from './accepted-event.ts'
import { announceBudget } from './announce-budget.ts'
import { actionFor } from './decision.ts'
import type { RecoveredTurn } from './deaths.ts'
import {
  countDeath,
  countEvaluation,
  givenUpMessage,
  hadBegun,
  wasGivenUpBefore,
} from './deaths.ts'
import { isUnanswered, decideStepFinding } from './step-finding.ts'
import { closingResult } from '../../sessions/log/closing.ts'
import { isInterrupt, takeInterrupt } from './interrupts.ts'
import { abandonedTurnEvents, wasGivenBack } from './abandoned-turn.ts'
import type { EvaluationStep } from './outcomes/start.ts'
import { endOutcome, interruptOutcome } from '../../sessions/events/end-outcome.ts'
import { hasOpenOutcome, outcomeStage } from '../../sessions/log/outcome-stage.ts'
import { startEvaluation } from './outcomes/start.ts'
import { reportToParent } from './threads/report-to-parent.ts'
import { ownServers } from './own-servers.ts'

/** `thread`: the child thread that the step belongs to; undefined for the primary one. The lease is the session's. */
export type SessionLease = { tenant: string; session: string; fence: Fence; thread?: string }

export type Step =
  /**
   * A turn to run, with the calls open at the step. `begun`: id of the
   * first model request's start event, if no MCP server has to be awaited. `head`: the head after the step, if no
   * call is open. `isBudgeted`: the session's budget is checked before each model request. `recovered`: a dead process
   * has left the turn. `hasWaiting`: messages wait, which may join it.
   */
  | {
      kind: 'turn'
      open: PendingCall[]
      begun?: string
      head?: Head
      isBudgeted?: true
      hasWaiting?: true
      recovered?: RecoveredTurn
    }
  /** The work of the last turn is to be judged. */
  | EvaluationStep
  /** Nothing to do, or a turn that has begun waits for its servers. The lease is released. */
  | { kind: 'rest' }
  | { kind: 'lost' }
  /** The inbox is large and nothing is decided yet. The caller repeats the step in its turn of the event loop. */
  | { kind: 'heavy' }
  /** The session was deleted. The caller removes the rest from this machine; only then is the session no longer due. */
  | { kind: 'deleted' }

export const isHeld = (head: Head, { owner, generation }: Fence): boolean =>
  head.owner === owner && head.generation === generation
/** `rest`: another thread went idle last and released the lease. `lost`: another process owns the session. */
function overFor(head: Head | undefined, { fence }: SessionLease): 'rest' | 'lost' | undefined {
  if (!head || isHeld(head, fence)) return undefined
  const isReleased = head.owner === null && head.generation === fence.generation
  return head.team && isReleased ? 'rest' : 'lost'
}
export const budgetFlag = ({ budget }: Head) =>
  budget === null ? {} : { isBudgeted: true as const }

/**
 * `claimed`: this is the first step under a new lease, so a running turn was left by a dead process. `hasWaited`: the
 * session has waited as a suspect.
 */
type StepMoment = { now: number; claimed: boolean; hasWaited?: boolean }

/** `mostBytes`: the largest inbox to work on; a caller that has its turn of the event loop passes Infinity. */
export async function nextStep(
  tx: Queries,
  lease: SessionLease,
  { mostBytes = heavyBytes, ...moment }: StepMoment & { mostBytes?: number },
): Promise<Step> {
  const { tenant, session, thread } = lease
  // The head is locked. Otherwise the session could become not due while a message is accepted.
  const head = await findThreadForUpdate(tx, lease)
  const over = overFor(head, lease)
  if (!head || over) return { kind: over ?? 'rest' }
  const open = await listOpenCalls(tx, { tenant, session, thread })
  const queue = await readWaiting(tx, tenant, session, thread)
  if (bytesWaiting(head, queue) > mostBytes) return { kind: 'heavy' }
  const state = stateOf(head)
  const left = await (moment.claimed && isTurn(state)
    ? abandonedTurnEvents(tx, lease, head, open)
    : [])
  return act(tx, lease, { head, open, queue, left }, moment)
}

function act(
  tx: Queries,
  lease: SessionLease,
  unfinished: UnfinishedTurn,
  moment: StepMoment,
): Promise<Step> {
  const { head, open, queue } = unfinished
  const { now } = moment
  const action = actionFor(stateOf(head), decideStepFinding(open, queue, head))
  switch (action) {
    case 'remove':
      return Promise.resolve({ kind: 'deleted' })
    case 'settle_interrupt':
      return settleInterrupt(tx, lease, unfinished, now)
    case 'begin':
      return beginTurn(tx, lease, { head, entries: [] }, now)
    case 'recover':
      return recoverTurn(tx, lease, unfinished, now)
    case 'evaluate':
      return judgeWork(tx, lease, { ...unfinished, left: [] }, moment)
    case 'ask_again':
      return askAgain(tx, lease, head, open.filter(isUnanswered), now)
    case 'resume':
      return continueTurn(tx, lease, unfinished, runningEntries(head), now)
    case 'promote':
      return promoteMessages(tx, lease, head, { queue, before: [] }, now)
    case 'rest':
      return writeStep(tx, lease, head, [], { due: false, ...releasedLease }, now, { kind: 'rest' })
    default:
      return action satisfies never
  }
}

/** Ends the work on a deleted session when nothing of it is left: not due any more, lease released. */
export const settleDeleted = (tx: Queries, { tenant, session, fence }: SessionLease, now: number) =>
  appendEntries(tx, tenant, session, [], { now, fence, due: false, set: releasedLease })

/** Settles an interrupt between turns or in a dead process's turn. Messages after the interrupt begin a turn. */
export async function settleInterrupt(
  tx: Queries,
  lease: SessionLease,
  { head, open, queue, left }: UnfinishedTurn,
  now: number,
): Promise<Step> {
  const position = queue.findLast(isInterrupt)?.position ?? 0
  const taken = await takeInterrupt(tx, lease, open, queue, position)
  const outcome = await interruptOutcome(tx, lease, head, taken.id, now)
  const entries = [...left, ...taken.entries, ...outcome.entries]
  const goesOn = taken.behind.length > 0 || hasOpenOutcome(outcome.head)
  const last = idleEntries(head, { type: 'end_turn' }, now, goesOn)
  if (!goesOn) return endTurn(tx, lease, head, [...entries, ...last], now)
  const before = [...entries, ...(hasTurn(head) ? last : [])]
  return promoteMessages(tx, lease, outcome.head, { queue: taken.behind, before }, now)
}

const isTurn = (state: SessionState): boolean => state === 'running' || state === 'rescheduling'

const hasTurn = (head: Head): boolean =>
  ['awaits_servers', 'running', 'rescheduling', 'evaluating'].includes(stateOf(head))

export async function writeStep<S extends Step>(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  entries: readonly (LogEntry | PromotedMessage)[],
  options: { due: boolean } & Pick<
    HeadChange,
    'owner' | 'expires_at' | 'awaits_stdio' | 'halted' | 'budget_told' | 'outcome' | 'recoveries'
  >,
  now: number,
  step: S,
): Promise<S | { kind: 'lost' }> {
  const { due, ...set } = options
  const written = await appendStep(tx, lease, head, entries, { now, due, set })
  return written ? step : { kind: 'lost' }
}

export const toLogEntry = (event: NewEvent): LogEntry => ({ event })

type UnfinishedTurn = { head: Head; open: PendingCall[]; queue: InboxItem[]; left: LogEntry[] }

/** Continues a turn, or gives it up when it has ended its process too often. */
async function recoverTurn(
  tx: Queries,
  lease: SessionLease,
  unfinished: UnfinishedTurn,
  now: number,
): Promise<Step> {
  const { head, open, left } = unfinished
  const isShown = head.status === 'running' && isWorking(head.team?.session.status ?? 'running')
  const entries = [...left, ...(isShown ? [] : runningEntries(head))]
  if (left.length === 0 || wasGivenBack(head))
    return continueTurn(tx, lease, unfinished, entries, now)
  // The claim has counted one for the primary thread alone.
  const claim = lease.thread === undefined ? 0 : 1
  const counted = { ...head, recoveries: head.recoveries + claim }
  const { isGivenUp, recoveries, ...recovered } = countDeath(counted, hadBegun(open, left))
  if (isGivenUp) return giveUpTurn(tx, lease, unfinished, now)
  if (lease.thread === undefined)
    return continueTurn(tx, lease, unfinished, entries, now, { recoveries, ...recovered })
  await threadStore(tx).update(threadRowKey(lease), { recoveries })
  return continueTurn(tx, lease, unfinished, entries, now, recovered)
}

/** Begins an evaluation, or resumes one, unless it has ended its process too often. */
async function judgeWork(
  tx: Queries,
  lease: SessionLease,
  unfinished: UnfinishedTurn,
  { now, claimed, hasWaited = false }: StepMoment,
): Promise<Step> {
  const { head, queue } = unfinished
  const row = await outcomeStore(tx).open(lease.tenant, lease.session)
  const hasDied = claimed && !wasGivenBack(head)
  const hasStarted = row.start_id !== null
  const counted = countEvaluation(head, { hasDied, hasWaited, hasStarted })
  const { isGivenUp, recoveries, recovered } = counted
  if (isGivenUp) return giveUpTurn(tx, lease, unfinished, now)
  // Messages steer the work before it is judged.
  if (row.start_id === null && queue.length > 0)
    return promoteMessages(tx, lease, steered(head), { queue, before: [] }, now)
  // The primary thread stays due until the last other thread goes idle, which starts it again.
  if (row.start_id === null && head.team && hasOthersDue(head.team)) return { kind: 'rest' }
  const { entries, evaluation } = await startEvaluation(tx, row, head)
  const step = { ...evaluation, ...budgetFlag(head), ...(hasDied && { recovered }) }
  return writeStep(tx, lease, head, entries, { due: true, recoveries }, now, step)
}

const steered = (head: Head): Head => ({ ...head, outcome: outcomeStage.pending })

/**
 * Waiting messages begin another turn, because the fault may concern this turn alone. After a second such turn they
 * wait for the next message.
 */
async function giveUpTurn(
  tx: Queries,
  lease: SessionLease,
  { head, open, queue, left }: UnfinishedTurn,
  now: number,
): Promise<Step> {
  const why = givenUpMessage
  const goesOn = queue.length > 0 && !(await wasGivenUpBefore(tx, lease, head))
  const message = goesOn ? why : `${why}${await waysOn(tx, lease, queue.length > 0)}`
  const error = {
    type: 'unknown_error' as const,
    message,
    retry_status: { type: 'exhausted' as const },
  }
  const outcome = await endOutcome(tx, lease, head, { result: 'failed', explanation: why }, now)
  const closed = open.map((call) => toLogEntry(closingResult(call, why)))
  const stop: StopReason = { type: 'retries_exhausted' }
  const report = await reportToParent(tx, lease, { stop }, now)
  // The parent is due now, and the session goes on with it.
  const after = report.length > 0 ? ((await readThread(tx, lease)) ?? head) : head
  const entries = [
    ...left,
    ...closed,
    toLogEntry({ id: newId('event'), type: 'session.error', error }),
    ...outcome.entries,
    ...report,
    ...idleEntries(after, stop, now, goesOn),
  ]
  if (goesOn) return promoteMessages(tx, lease, outcome.head, { queue, before: entries }, now)
  return endTurn(tx, lease, after, entries, now)
}

/** True when no other thread of the session is due. */
export const isOnlyDueThread = ({ team }: Head): boolean => !team || !hasOthersDue(team)

/** Ends a turn that no message follows. Withdraws the session's work item from the queue. */
export async function endTurn(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  entries: readonly (LogEntry | PromotedMessage)[],
  now: number,
): Promise<Step> {
  const told = await announceBudget(tx, lease, head, { type: 'end_turn' }, now)
  const rest = { due: false, awaits_stdio: 0, halted: 0, ...told, ...releasedLease } as const
  const step = await writeStep(tx, lease, head, entries, rest, now, { kind: 'rest' })
  if (step.kind === 'rest' && isOnlyDueThread(head))
    await withdrawItem(tx, lease.tenant, lease.session, now)
  return step
}

/** Records allowed calls as started before the turn can start them. */
async function continueTurn(
  tx: Queries,
  lease: SessionLease,
  { head, open, queue }: Pick<UnfinishedTurn, 'head' | 'open' | 'queue'>,
  entries: LogEntry[],
  now: number,
  { recovered, recoveries }: { recovered?: RecoveredTurn; recoveries?: number } = {},
): Promise<Step> {
  const allowed = open.filter((call) => call.state === 'allowed').map((call) => call.event_id)
  await startCalls(tx, lease.session, allowed)
  const waiting = queue.length > 0 ? { hasWaiting: true as const } : {}
  const turn = { kind: 'turn' as const, open, ...budgetFlag(head), ...waiting }
  const set = { ...begunOutcome(head), ...(recoveries !== undefined && { recoveries }) }
  return writeStep(tx, lease, head, entries, { due: true, ...set }, now, {
    ...turn,
    ...(recovered && { recovered }),
  })
}

/** The change of the head when a turn begins to work towards a defined outcome. */
const begunOutcome = ({ outcome }: Head): Pick<HeadChange, 'outcome'> =>
  outcome === outcomeStage.pending ? { outcome: outcomeStage.working } : {}

/** Appends the idle event with the calls that still wait, unless the last idle event says the same. */
async function askAgain(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  rest: PendingCall[],
  now: number,
): Promise<Step> {
  const stop: StopReason = { type: 'requires_action', event_ids: rest.map((call) => call.event_id) }
  const same = head.stop_reason === JSON.stringify(stop)
  return writeStep(
    tx,
    lease,
    head,
    same ? [] : idleEntries(head, stop, now),
    { due: false, ...releasedLease },
    now,
    {
      kind: 'rest',
    },
  )
}

/** Begins one turn with all waiting messages. */
export async function promoteMessages(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  {
    queue,
    before,
  }: { queue: readonly InboxItem[]; before: readonly (LogEntry | PromotedMessage)[] },
  now: number,
): Promise<Step> {
  const { tenant, session, thread } = lease
  const messages = await takeWaiting(tx, tenant, session, queue.at(-1)?.position ?? 0, thread)
  const starts = thread === undefined ? runStarted(tenant) : []
  const entries = [...before, ...starts, ...messages, ...runningEntries(head)]
  return beginTurn(tx, lease, { head, entries }, now)
}

export const runStarted = (tenant: string): LogEntry[] => [
  toLogEntry({ id: newId('event'), type: 'session.status_run_started', workspace_id: tenant }),
]

export const requestEntry = (id: string): LogEntry =>
  toLogEntry({ id, type: 'span.model_request_start' })

/** Records the first model request of a turn, or waits for the MCP servers that the session's worker starts. */
export async function beginTurn(
  tx: Queries,
  lease: SessionLease,
  { head, entries }: { head: Head; entries: readonly (LogEntry | PromotedMessage)[] },
  now: number,
): Promise<Step> {
  const servers = await ownServers(tx, lease, head, now)
  if (servers === 'wait') {
    const waits = { due: false, awaits_stdio: 1, ...releasedLease, ...begunOutcome(head) } as const
    return writeStep(tx, lease, head, entries, waits, now, { kind: 'rest' })
  }
  const all = [...entries, ...servers.failures.map(stdioError)]
  const listed = { ...(head.awaits_stdio === 1 && { awaits_stdio: 0 as const }) }
  const set = { due: true, ...listed, ...begunOutcome(head) }
  const turn = { kind: 'turn' as const, open: [], ...budgetFlag(head) }
  // The turn itself waits for servers with a URL, and reports failed servers before it asks the model.
  if (head.url_servers === 1) return writeStep(tx, lease, head, all, set, now, turn)
  const begun = newId('event')
  all.push(requestEntry(begun))
  return writeStep(tx, lease, head, all, set, now, { ...turn, begun })
}
