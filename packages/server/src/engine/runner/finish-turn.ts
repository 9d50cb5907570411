/** Ends a turn that has run, in one commit. */
import type { StopReason } from '@steward/protocol/events.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { listOpenCalls } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import { isAtBudget } from '../../sessions/log/head.ts'
import { idleEntries } from '../../sessions/log/idle.ts'
import { lastSteering, readWaiting, takeWaiting, waitsBehind } from '../../sessions/log/inbox.ts'
import { lastInterrupt } from '../../sessions/log/inbox-end.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { appendInThread, appendStep } from '../../sessions/log/threads/append.ts'
import { findThreadForUpdate, readThread } from '../../sessions/log/threads/team.ts'
import { withdrawItem } from '../../sessions/work/queue.ts'
import { outcomeStage } from '../../sessions/log/outcome-stage.ts'
import { takeInterrupt } from './interrupts.ts'
import { cutSpans } from './abandoned-turn.ts'
import type { TurnEffects } from './outcomes/turn-end.ts'
import { outcomeAfter } from './outcomes/turn-end.ts'
import { closingResult } from '../../sessions/log/closing.ts'
import type { SessionLease } from './steps.ts'
import { reportToParent } from './threads/report-to-parent.ts'
import { announceBudget } from './announce-budget.ts'
import { isUnanswered } from './step-finding.ts'
import { isHeld, toLogEntry, isOnlyDueThread } from './steps.ts'

/** `head`: the head after the turn's last append, if no call is open. The session may have changed since. */
export type TurnEnding = {
  stop: StopReason
  last: readonly LogEntry[]
  isElsewhere?: boolean
  head?: Head | undefined
}

/**
 * Ends a turn in one commit: its last events, the effect of an interrupt, usage and idle. Returns `more` when the
 * session has work at once; it then keeps its lease. A session that rests withdraws its work item when its tools run
 * elsewhere.
 */
export async function finishTurn(
  tx: Queries,
  lease: SessionLease,
  { stop, last, isElsewhere = true }: TurnEnding,
  now: number,
): Promise<'rest' | 'more' | 'lost'> {
  const { tenant, session, thread } = lease
  const written = await appendInThread(tx, lease, last, now)
  if (!written) return 'lost'
  const open = await listOpenCalls(tx, { tenant, session, thread })
  const end = await ending(tx, lease, stop, open)
  if (end === 'answered') return 'more'
  const waits = await waitingAtEnd(tx, lease, { end, open }, now)
  if (waits === 'joined') return 'more'
  const report = await reportToParent(tx, lease, end, now)
  const head = await headAtEnd(tx, lease)
  const outcome = await outcomeAfter(tx, lease, head, end, now)
  const more = outcome.isJudged ? !isAtBudget(head) : goesOn(outcome.head, end.stop, waits)
  const told = await announceBudget(tx, lease, head, end.stop, now)
  const left = end.stop.type === 'budget_reached' ? { halted: 1 as const } : {}
  const set = { ...left, ...told, ...(more ? {} : releasedLease), ...outcome.set }
  const cut = await spansCutBy(tx, lease, stop)
  const rests = outcome.isJudged && more ? [] : idleEntries(head, end.stop, now, more)
  const entries = [...end.entries, ...cut, ...outcome.entries, ...report, ...rests]
  const done = await appendStep(tx, lease, head, entries, { now, due: more, set })
  if (!done) return 'lost'
  if (more) return 'more'
  if (isElsewhere && isOnlyDueThread(head) && end.stop.type !== 'requires_action')
    await withdrawItem(tx, tenant, session, now)
  return 'rest'
}

async function headAtEnd(tx: Queries, lease: SessionLease): Promise<Head> {
  const head = await readThread(tx, lease)
  if (!head) throw new Error(`thread ${lease.thread} was archived while it ran`)
  return head
}

/** True when the session has work at once, also when its turn stopped at a budget that was raised meanwhile. */
const goesOn = (head: Head, { type }: StopReason, waits: boolean): boolean =>
  type !== 'requires_action' &&
  !isAtBudget(head) &&
  (type === 'budget_reached' || head.outcome === outcomeStage.pending || waits)

const spansCutBy = async (tx: Queries, lease: SessionLease, { type }: StopReason) =>
  type === 'retries_exhausted' ? cutSpans(tx, lease) : []

/**
 * True when messages wait. `joined`: they have joined the turn, which the model has ended and nobody has stopped, so that
 * it goes on.
 */
async function waitingAtEnd(
  tx: Queries,
  lease: SessionLease,
  { end, open }: { end: TurnEffects; open: readonly PendingCall[] },
  now: number,
): Promise<boolean | 'joined'> {
  const { tenant, session, thread } = lease
  const { type } = end.stop
  if (type === 'requires_action') return false
  if (!(await waitsBehind(tx, tenant, session, 0, thread))) return false
  const isDone = type === 'end_turn' && end.interruptedBy === undefined && open.length === 0
  return isDone && (await joinMessages(tx, lease, now)) ? 'joined' : true
}

/** The reason why the turn ends, given the interrupts and answers that came while it ran. */
async function ending(
  tx: Queries,
  lease: SessionLease,
  stop: StopReason,
  open: PendingCall[],
): Promise<TurnEffects | 'answered'> {
  const { tenant, session, thread } = lease
  const interrupted = await lastInterrupt(tx, tenant, session, thread)
  if (interrupted !== undefined) {
    const queue = await readWaiting(tx, tenant, session, thread)
    const { entries, id } = await takeInterrupt(tx, lease, open, queue, interrupted)
    return { stop: { type: 'end_turn' }, entries, interruptedBy: id }
  }
  if (stop.type !== 'requires_action') {
    const why = 'the turn ended before this call had a result'
    return { stop, entries: open.map((call) => toLogEntry(closingResult(call, why))) }
  }
  const rest = open.filter(isUnanswered).map((call) => call.event_id)
  if (rest.length === 0) return 'answered'
  return { stop: { type: 'requires_action', event_ids: rest }, entries: [] }
}

/**
 * Moves the messages that join the turn from the inbox to the log. Returns false where none does, and where the lease
 * was lost. [openai/events/steer]
 */
export async function joinMessages(
  tx: Queries,
  lease: SessionLease,
  now: number,
): Promise<boolean> {
  const { tenant, session, thread } = lease
  if (thread !== undefined) return false
  // The head is locked, so that nothing else takes the messages.
  const head = await findThreadForUpdate(tx, lease)
  if (!head || !isHeld(head, lease.fence) || isAtBudget(head)) return false
  const upTo = await lastSteering(tx, { tenant, session })
  if (upTo === undefined) return false
  const messages = await takeWaiting(tx, tenant, session, upTo)
  await appendStep(tx, lease, head, messages, { now, due: true })
  return true
}
