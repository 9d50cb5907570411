/**
 * Decides and records the next step of a session in one transaction: settle an interrupt, recover a turn of a dead process, resume answered
 * calls, promote messages, or rest.
 */
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/ids.ts'
import { heavyBytes } from '../../ground/core/loop.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Fence } from '../../ground/database/lease.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { openCalls, startCalls } from '../../sessions/log/calls.ts'
import type { Head, HeadChange } from '../../sessions/log/head.ts'
import { isAtBudget, lockHead, stateOf } from '../../sessions/log/head.ts'
import { idle } from '../../sessions/log/idle.ts'
import type { Admitted } from '../../sessions/log/inbox.ts'
import { bytesWaiting, cancelled, drop, take, waiting } from '../../sessions/log/inbox.ts'
import type { Entry, Promoted } from '../../sessions/log/log.ts'
import { append } from '../../sessions/log/append.ts'
import { stdioError } from '../../sessions/stdio-servers/readiness.ts'
import { withdraw } from '../../sessions/work/queue.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import type { Finding } from './decision.ts'
import { actionFor } from './decision.ts'
import { leftBehind, wasGivenBack } from './left-behind.ts'
import { ownServers } from './own-servers.ts'

export type SessionLease = { tenant: string; session: string; fence: Fence }

export type Step =
  /**
   * A turn to run, with the calls that were open when the step was recorded. `promoted`: ids of the messages that begin the turn. `begun`:
   * id of the start event of the first model request; it is in the same commit when no MCP server has to be awaited. `head`: as the step
   * left it, where no call is open. `isBudgeted`: the session has a budget, which is looked at before each model request.
   */
  | {
      kind: 'turn'
      open: PendingCall[]
      promoted: string[]
      begun?: string
      head?: Head
      isBudgeted?: true
    }
  /** Nothing to do, or a turn that has begun waits for its servers. The lease is released. */
  | { kind: 'rest'; promoted?: string[] }
  | { kind: 'lost' }
  /** The inbox is large and nothing is decided yet. The caller repeats the step in its turn of the event loop. */
  | { kind: 'heavy' }
  /** The session was deleted. The caller removes the rest from this machine; only then is the session no longer due. */
  | { kind: 'deleted' }

/** A turn is given up when it ended its process more often than this in a row, with nothing stored in between. */
const mostRecoveries = 5

export const isHeld = (head: Head, { owner, generation }: Fence): boolean =>
  head.owner === owner && head.generation === generation
export const isInterrupt = ({ type }: Admitted): boolean => type === 'user.interrupt'
export const unanswered = (call: PendingCall): boolean =>
  call.state === 'asked' || call.state === 'waiting'
export const released = { owner: null, expires_at: 0 }
export const budgeted = ({ budget }: Head) => (budget === null ? {} : { isBudgeted: true as const })

/**
 * `claimed`: this is the first step under a new lease, so a running turn was left by a dead process. `mostBytes`: the largest inbox to work
 * on; a caller that has its turn of the event loop passes Infinity.
 */
export async function nextStep(
  tx: Queries,
  place: SessionLease,
  { now, claimed, mostBytes = heavyBytes }: { now: number; claimed: boolean; mostBytes?: number },
): Promise<Step> {
  const { tenant, session } = place
  // The head is locked. Otherwise the session could become not due while a message is accepted.
  const head = await lockHead(tx, tenant, session)
  // Another process owns the inbox now; leave it unchanged.
  if (!isHeld(head, place.fence)) return { kind: 'lost' }
  const open = await openCalls(tx, tenant, session)
  const queue = await waiting(tx, tenant, session)
  if (bytesWaiting(head, queue) > mostBytes) return { kind: 'heavy' }
  const state = stateOf(head)
  const wasRunning = state === 'running' || state === 'rescheduling'
  const left = claimed && wasRunning ? await leftBehind(tx, place, head, open) : []
  const action = actionFor(state, findingOf(open, queue))
  switch (action) {
    case 'remove':
      return { kind: 'deleted' }
    case 'settle_interrupt':
      return settleInterrupt(tx, place, { head, open, queue, left }, now)
    case 'begin':
      return begin(tx, place, head, { entries: [], promoted: [] }, now)
    case 'recover':
      return recoverTurn(tx, place, { head, open, queue, left }, now)
    case 'ask_again':
      return askAgain(tx, place, head, open.filter(unanswered), now)
    case 'resume':
      return continueTurn(tx, place, { head, open }, [runningEntry()], now)
    case 'promote':
      return promote(tx, place, head, { queue, before: [] }, now)
    case 'rest':
      return write(tx, place, [], { due: false, ...released }, now, { kind: 'rest' })
    default:
      return action satisfies never
  }
}

export function findingOf(open: readonly PendingCall[], queue: readonly Admitted[]): Finding {
  if (queue.some(isInterrupt)) return 'interrupt'
  if (open.some(unanswered)) return 'unanswered'
  if (open.length > 0) return 'answered'
  return queue.length > 0 ? 'messages' : 'nothing'
}

/** Ends the work on a deleted session when nothing of it is left: not due any more, lease released. */
export const settleDeleted = (tx: Queries, { tenant, session, fence }: SessionLease, now: number) =>
  append(tx, tenant, session, [], { now, fence, due: false, set: released })

/** Settles an interrupt between two turns, or in a turn that a dead process left. Messages after the interrupt begin a turn. */
async function settleInterrupt(
  tx: Queries,
  place: SessionLease,
  { head, open, queue, left }: Unfinished,
  now: number,
): Promise<Step> {
  const position = queue.findLast(isInterrupt)?.position ?? 0
  const { entries, behind } = await takeInterrupt(tx, place, open, queue, position)
  const last = idle(head, { type: 'end_turn' }, now)
  if (behind.length === 0) return endTurn(tx, place, head, [...left, ...entries, ...last], now)
  const ended = hasTurn(head) ? last : []
  return promote(tx, place, head, { queue: behind, before: [...left, ...entries, ...ended] }, now)
}

export async function takeInterrupt(
  tx: Queries,
  { tenant, session }: SessionLease,
  open: PendingCall[],
  queue: readonly Admitted[],
  position: number,
) {
  return {
    entries: interruptEntries(await drop(tx, tenant, session, position), open),
    behind: queue.filter((each) => each.position > position),
  }
}

const hasTurn = (head: Head): boolean =>
  ['awaits_servers', 'running', 'rescheduling'].includes(stateOf(head))

async function write<S extends Step>(
  tx: Queries,
  { tenant, session, fence }: SessionLease,
  entries: readonly (Entry | Promoted)[],
  options: { due: boolean } & Pick<
    HeadChange,
    'owner' | 'expires_at' | 'awaits_stdio' | 'halted' | 'budget_told'
  >,
  now: number,
  step: S,
): Promise<S | { kind: 'lost' }> {
  const { due, ...set } = options
  const written = await append(tx, tenant, session, entries, { now, fence, due, set })
  return written ? step : { kind: 'lost' }
}

export const entryOf = (event: NewEvent): Entry => ({ event })
const runningEntry = (): Entry => entryOf({ id: newId('event'), type: 'session.status_running' })

/** Closes the open calls, cancels the waiting messages, and puts the interrupt into the log. */
function interruptEntries(
  queue: readonly Promoted[],
  open: readonly PendingCall[],
): (Entry | Promoted)[] {
  const closed = open.map((call) => entryOf(closing(call, 'interrupted before it had a result')))
  const gone = queue
    .filter(({ type }) => type === 'user.message')
    .map((message) => entryOf(cancelled(message, newId('event'), 'interrupt')))
  return [...closed, ...gone, ...queue.filter(({ type }) => type === 'user.interrupt')]
}

/** An error result of the event type that answers this call. */
export function closing(call: PendingCall, why: string): NewEvent {
  const id = newId('event')
  const answer = { content: [{ type: 'text' as const, text: why }], is_error: true }
  if (call.type === 'agent.custom_tool_use') {
    const closed = { ...answer, closed_by: 'service' as const }
    return { id, type: 'user.custom_tool_result', custom_tool_use_id: call.event_id, ...closed }
  }
  return call.type === 'agent.mcp_tool_use'
    ? { id, type: 'agent.mcp_tool_result', mcp_tool_use_id: call.event_id, ...answer }
    : { id, type: 'agent.tool_result', tool_use_id: call.event_id, ...answer }
}

type Unfinished = { head: Head; open: PendingCall[]; queue: Admitted[]; left: Entry[] }

/** Continues a turn, or gives it up when it has ended its process too often. */
async function recoverTurn(
  tx: Queries,
  place: SessionLease,
  unfinished: Unfinished,
  now: number,
): Promise<Step> {
  const { head, open, left } = unfinished
  const hasFailed = left.length > 0 && !wasGivenBack(head)
  if (hasFailed && head.recoveries > mostRecoveries) return giveUpTurn(tx, place, unfinished, now)
  const again = head.status === 'rescheduling' ? [runningEntry()] : []
  return continueTurn(tx, place, { head, open }, [...left, ...again], now)
}

/** Waiting messages begin another turn, because the fault may concern this turn alone. */
async function giveUpTurn(
  tx: Queries,
  place: SessionLease,
  { head, open, queue, left }: Unfinished,
  now: number,
): Promise<Step> {
  const why = `the process that ran this turn ended ${mostRecoveries + 1} times in a row; the turn was given up`
  const error = {
    type: 'unknown_error' as const,
    message: queue.length > 0 ? why : `${why}; send a message to go on`,
    retry_status: { type: 'exhausted' as const },
  }
  const entries = [
    ...left,
    ...open.map((call) => entryOf(closing(call, why))),
    entryOf({ id: newId('event'), type: 'session.error', error }),
    ...idle(head, { type: 'retries_exhausted' }, now),
  ]
  if (queue.length > 0) return promote(tx, place, head, { queue, before: entries }, now)
  return endTurn(tx, place, head, entries, now)
}

/** Ends a turn that no message follows. Withdraws the session's work item from the queue. */
async function endTurn(
  tx: Queries,
  place: SessionLease,
  head: Head,
  entries: readonly (Entry | Promoted)[],
  now: number,
): Promise<Step> {
  const told = await tellBudget(tx, place, head, { type: 'end_turn' }, now)
  const rest = { due: false, awaits_stdio: 0, halted: 0, ...told, ...released } as const
  const step = await write(tx, place, entries, rest, now, { kind: 'rest' })
  if (step.kind === 'rest') await withdraw(tx, place.tenant, place.session, now)
  return step
}

/** Tells the webhook of a budget that is reached, once for each value of the budget. */
export async function tellBudget(
  tx: Queries,
  { tenant, session }: SessionLease,
  head: Head,
  { type }: StopReason,
  now: number,
): Promise<Pick<HeadChange, 'budget_told'>> {
  if (!isAtBudget(head) || type === 'requires_action' || head.budget_told === 1) return {}
  await outbox(tx).put(tenant, ['session.budget_reached'], { id: session }, now)
  return { budget_told: 1 }
}

/** Records allowed calls as started before the turn can start them. */
async function continueTurn(
  tx: Queries,
  place: SessionLease,
  { head, open }: Pick<Unfinished, 'head' | 'open'>,
  entries: Entry[],
  now: number,
): Promise<Step> {
  const allowed = open.filter((call) => call.state === 'allowed').map((call) => call.event_id)
  await startCalls(tx, place.session, allowed)
  const turn = { kind: 'turn' as const, open, promoted: [], ...budgeted(head) }
  return write(tx, place, entries, { due: true }, now, turn)
}

/** Appends the idle event with the calls that still wait, unless the last idle event says the same. */
async function askAgain(
  tx: Queries,
  place: SessionLease,
  head: Head,
  rest: PendingCall[],
  now: number,
): Promise<Step> {
  const stop: StopReason = { type: 'requires_action', event_ids: rest.map((call) => call.event_id) }
  const same = head.stop_reason === JSON.stringify(stop)
  return write(tx, place, same ? [] : idle(head, stop, now), { due: false, ...released }, now, {
    kind: 'rest',
  })
}

/** Begins one turn with all waiting messages. */
async function promote(
  tx: Queries,
  place: SessionLease,
  head: Head,
  { queue, before }: { queue: readonly Admitted[]; before: readonly (Entry | Promoted)[] },
  now: number,
): Promise<Step> {
  const { tenant, session } = place
  const messages = await take(tx, tenant, session, queue.at(-1)?.position ?? 0)
  const entries = [...before, ...promotion(tenant, messages)]
  return begin(tx, place, head, { entries, promoted: promotedIn(queue) }, now)
}

/** What a turn begins with. */
export const promotion = (tenant: string, messages: readonly Promoted[]): (Entry | Promoted)[] => [
  entryOf({ id: newId('event'), type: 'session.status_run_started', workspace_id: tenant }),
  ...messages,
  runningEntry(),
]

export const promotedIn = (queue: readonly Admitted[]): string[] =>
  queue.filter(({ type }) => type === 'user.message').map(({ id }) => id)

export const requestEntry = (id: string): Entry => entryOf({ id, type: 'span.model_request_start' })

/** Records the first model request of a turn, or waits for the MCP servers that the session's worker starts. */
async function begin(
  tx: Queries,
  place: SessionLease,
  head: Head,
  { entries, promoted }: { entries: readonly (Entry | Promoted)[]; promoted: string[] },
  now: number,
): Promise<Step> {
  const servers = await ownServers(tx, place, head, now)
  if (servers === 'wait') {
    const waits = { due: false, awaits_stdio: 1, ...released } as const
    return write(tx, place, entries, waits, now, { kind: 'rest', promoted })
  }
  const all = [...entries, ...servers.failures.map(stdioError)]
  const set = { due: true, ...(head.awaits_stdio === 1 && { awaits_stdio: 0 as const }) }
  const turn = { kind: 'turn' as const, open: [], promoted, ...budgeted(head) }
  // The turn itself waits for servers with a URL, and reports failed servers before it asks the model.
  if (head.url_servers === 1) return write(tx, place, all, set, now, turn)
  const begun = newId('event')
  all.push(requestEntry(begun))
  return write(tx, place, all, set, now, { ...turn, begun })
}
