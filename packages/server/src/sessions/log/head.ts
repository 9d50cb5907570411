import type { Usage } from '@steward/model/model.ts'
import { computeCost } from '@steward/model/price.ts'
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import type { SessionBudget } from '@steward/protocol/budgets.ts'
import { hourMs, minuteMs } from '@steward/base/settings/kinds.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../../ground/core/errors.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import type { HeadClaim } from '../../ground/database/lease.ts'
import { claimColumns } from '../../ground/database/lease.ts'
import { selectStatement, statement } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { HeadStatus } from '../../ground/database/tables/sessions.ts'
import type { HeadOutcome } from '../../ground/database/tables/outcomes.ts'
import type { HeadSpending } from '../../ground/database/tables/usage.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'
import type { Json } from '../../ground/core/text/json-text.ts'
import { inCents } from '../../ground/core/text/money.ts'
import type { LogEntry } from './log.ts'
import { outcomeStage, stageAfter } from './outcome-stage.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import { sessionColumns } from './thread-columns.ts'

/** The status of a session after an event. The commit that appends the event also updates the head. */
const statusAfter: Partial<Record<NewEvent['type'], HeadStatus>> = {
  'session.status_running': 'running',
  'session.status_rescheduled': 'rescheduling',
  'session.status_idle': 'idle',
  'session.status_terminated': 'done',
  'session.deleted': 'deleted',
}

const tokenCounters = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const
/** Counters of a thread and of its session. */
export const spendingCounters = [...tokenCounters, 'list_cost', 'web_searches'] as const
const counters = [...spendingCounters, 'model_requests', 'turns'] as const
type HeadCounter = (typeof counters)[number]

/** The event with which a turn of the primary thread begins. */
export const turnBegin = 'session.status_run_started' satisfies NewEvent['type']

/**
 * True when the event shows that a turn has begun or made progress, which resets the count of recoveries. Errors and
 * warnings of the session do not count. Messages from the inbox are not checked here; `session.status_run_started`
 * stands for them.
 */
export const isOfTurn = ({ type }: NewEvent): boolean =>
  type === turnBegin || /^(agent|user)\./.test(type)

/** How an append changes the head, besides `next_seq`. Fields that are left out stay. Times in milliseconds. */
export type HeadChange = {
  status?: HeadStatus
  stop_reason?: Json<StopReason> | null
  idle_since_ms?: number
  /** When the turn began. Ignored when a turn runs already. */
  began?: number
  /** When the turn ended. */
  ended?: number
  /** See `deaths.ts` of the runner. */
  recoveries?: number
  due?: 0 | 1
  owner?: null
  expires_at?: number
  awaits_stdio?: 0 | 1
  stdio_ms?: number | null
  url_servers?: 0 | 1
  outcome?: number
  threads?: 1
  changed_ms?: number
  /** The new owner. Only a session without an owner can be claimed. */
  claimed?: HeadClaim
} & { [Name in HeadCounter]?: number } & Partial<Omit<HeadSpending, HeadCounter>>

/** The change that follows from the events alone. */
export function headChange(entries: readonly LogEntry[], now: number): HeadChange {
  const change: HeadChange = {}
  for (const { event, model, thread, web_searches } of entries) {
    if ('model_usage' in event) countUsage(change, event.model_usage, model, now)
    addTo(change, 'web_searches', web_searches)
    // The session's head follows its primary thread. Other threads have rows of their own.
    if (thread !== undefined) continue
    const status = statusAfter[event.type]
    if (status !== undefined) change.status = status
    if (isOfTurn(event)) change.recoveries = 0
    if (event.type === turnBegin) addTo(change, 'turns', 1)
    const outcome = stageAfter(event)
    if (outcome !== undefined) change.outcome = outcome
    if (event.type === 'session.status_idle') change.stop_reason = toJson(event.stop_reason)
  }
  // An index holds the minute: SQLite writes it with each statement that sets the column.
  if (change.status !== undefined || entries.some(isUpdate)) change.changed_ms = wholeMinute(now)
  if (change.status === undefined) return change
  if (change.status === 'idle') change.idle_since_ms = now
  else {
    change.stop_reason = null
    change.halted = 0
  }
  change[change.status === 'running' ? 'began' : 'ended'] = now
  return change
}

const isUpdate = ({ event }: LogEntry): boolean => event.type === 'session.updated'

/** A counter that does not grow stays out of the change, and so out of the statement. */
function addTo(change: HeadChange, name: HeadCounter, count = 0): void {
  if (count > 0) change[name] = (change[name] ?? 0) + count
}

/** Counts the usage of a model request. A failed request counts when its provider reports tokens. */
function countUsage(change: HeadChange, usage: Usage, model: LogEntry['model'], now: number): void {
  if (tokenCounters.every((name) => usage[name] === 0)) return
  for (const name of tokenCounters) addTo(change, name, usage[name])
  addTo(change, 'model_requests', 1)
  const price = model?.price
  if (price) addTo(change, 'list_cost', computeCost(usage, price))
  else change.unpriced = 1
  change.counted_hour = now - (now % hourMs)
  change.counted_model = model?.name ?? ''
  change.counted_price = price ? toJson(price) : ''
}

/** The head after the usage of the change is added to it. */
export const withUsage = (head: Head, change: HeadChange): Head => ({
  ...head,
  ...Object.fromEntries(spendingCounters.map((name) => [name, head[name] + (change[name] ?? 0)])),
  unpriced: change.unpriced ?? head.unpriced,
})

const isCounter = (name: string): boolean => (counters as readonly string[]).includes(name)

/** The columns that a change with these fields sets, with their values. */
export function headColumns(
  fields: readonly (keyof HeadChange)[],
  slot: SlotFor<HeadChange>,
): Record<string, RawBuilder<unknown>> {
  if (!fields.includes('claimed')) return changedColumns(fields, slot)
  const owner = slot(({ claimed }) => claimed?.owner)
  const until = slot(({ claimed }) => claimed?.untilMs)
  const others = fields.filter((field) => field !== 'claimed')
  return { ...changedColumns(others, slot), ...claimColumns(owner, until) }
}

/** Like `headColumns`, for the row of a thread, which has no owner. */
export function changedColumns(
  fields: readonly string[],
  slot: SlotFor<object>,
): Record<string, RawBuilder<unknown>> {
  const columns: Record<string, RawBuilder<unknown>> = {}
  for (const field of fields) {
    const value = slot((change) => Reflect.get(change, field))
    if (field === 'began') columns['running_since_ms'] = sql`coalesce(running_since_ms, ${value})`
    else if (field === 'ended') {
      columns['active_ms'] = sql`active_ms + coalesce(${value} - running_since_ms, 0)`
      columns['running_since_ms'] = sql`null`
    } else columns[field] = isCounter(field) ? sql`${sql.ref(field)} + ${value}` : value
  }
  return columns
}

/** The time of a change as the head keeps it: an index of it changes once a minute. */
export const wholeMinute = (ms: number): number => ms - (ms % minuteMs)

export type Head = {
  status: HeadStatus
  stop_reason: Json<StopReason> | null
  next_seq: number
  due: number
  owner: string | null
  previous_owner: string | null
  expires_at: number
  generation: number
  next_position: number
  recoveries: number
  inbox_bytes: number
  running_since_ms: number | null
  active_ms: number
  idle_since_ms: number | null
  stdio_ms: number | null
  awaits_stdio: number
  url_servers: number
  threads: number
  /** Only in the head of a thread, in a session with several threads: the states of the other threads. */
  team?: Team
} & HeadOutcome &
  Record<(typeof spendingCounters)[number], number> &
  Pick<HeadSpending, (typeof spendingFields)[number]>

export const standingFields = [
  'id',
  'kind',
  'name',
  'status',
  'stop_reason',
  'due',
  'recoveries',
  'halted',
  'url_servers',
  'running_since_ms',
  'active_ms',
  'idle_since_ms',
  'created_at',
  'updated_at',
] as const

/** The state of a thread, without its agent and its usage. */
export type ThreadState = Pick<Tables['threads'], (typeof standingFields)[number]>

/** `session`: the head of the session itself. `others`: threads that are not archived. */
export type Team = {
  self: ThreadState
  session: Head
  others: readonly ThreadState[]
}

const spendingFields = ['unpriced', 'budget', 'budget_told', 'halted'] as const

/** The spending of a new session. */
export const noSpending: HeadSpending = {
  counted_hour: null,
  counted_model: null,
  counted_price: null,
  list_cost: 0,
  unpriced: 0,
  model_requests: 0,
  web_searches: 0,
  budget: null,
  budget_told: 0,
  halted: 0,
}

/** At least one of these changes whenever the log or the inbox grows, or when another owner claims the session. */
export type SeenHead = Pick<Head, 'next_seq' | 'next_position' | 'generation'>

export const headFields = [
  'status',
  'stop_reason',
  'next_seq',
  'due',
  'owner',
  'previous_owner',
  'expires_at',
  'generation',
  'next_position',
  'recoveries',
  'inbox_bytes',
  'running_since_ms',
  'active_ms',
  'idle_since_ms',
  'stdio_ms',
  'awaits_stdio',
  'url_servers',
  'outcome',
  'threads',
  ...spendingCounters,
  ...spendingFields,
] as const

const headStatement = selectStatement((db, slot: SlotFor<SessionRef>) =>
  db
    .selectFrom('session_heads')
    .select(headFields)
    .where((eb) => eb.and(sessionColumns(slot))),
)

export async function readHead(db: Reads, tenant: string, sessionId: string): Promise<Head> {
  const [head] = await headStatement(db, { tenant, session: sessionId })
  if (!head) throw new Error(`session ${sessionId} has no head`)
  return head
}

/** Undefined for a deleted session, whose row may have been read before its end. */
export async function findHead(
  db: Reads,
  tenant: string,
  sessionId: string,
): Promise<Head | undefined> {
  const [head] = await headStatement(db, { tenant, session: sessionId })
  return head?.status === 'deleted' ? undefined : head
}

const lockStatement = statement((tx, slot: SlotFor<SessionRef>) =>
  tx
    .updateTable('session_heads')
    .set((eb) => ({ due: eb.ref('due') }))
    .where((eb) => eb.and(sessionColumns(slot)))
    .returning(headFields),
)

/**
 * Locks the head until the transaction ends, and returns it. Throws not_found. Rows that were read before the lock may
 * be outdated.
 */
export async function getHeadForUpdate(
  tx: Queries,
  tenant: string,
  sessionId: string,
): Promise<Head> {
  const [head] = await lockStatement(tx, { tenant, session: sessionId })
  if (!head) throw notFound('session', sessionId)
  return head
}

/** Calls of `web_fetch` are not counted. [sessions/usage/server-tool-use] */
export const serverToolUse = ({ web_searches }: Pick<Head, 'web_searches'>) => ({
  web_search_requests: web_searches,
  web_fetch_requests: 0,
})

/** The head as `session.usage` and the session show it. */
export function showHeadUsage(head: Head, now: number) {
  const activeMs =
    head.active_ms + (head.running_since_ms === null ? 0 : now - head.running_since_ms)
  return {
    input_tokens: head.input_tokens,
    output_tokens: head.output_tokens,
    cache_read_input_tokens: head.cache_read_input_tokens,
    cache_creation: {
      ephemeral_5m_input_tokens: head.cache_creation_input_tokens,
      ephemeral_1h_input_tokens: 0,
    },
    active_seconds: activeMs / 1000,
    list_cost: head.unpriced === 1 ? null : inCents(head.list_cost),
    server_tool_use: serverToolUse(head),
  }
}

export const budgetOf = ({ budget }: Head): SessionBudget | null =>
  budget === null ? null : { type: 'limit', max_list_cost: inCents(budget) }

/** True when a session has spent its budget. It makes no further model request. */
export const isAtBudget = ({ list_cost, budget }: Head): boolean =>
  budget !== null && list_cost >= budget

/** `isAtBudget`, as a condition on a row of `session_heads`. */
export const atBudget = sql<boolean>`list_cost >= coalesce(budget, list_cost + 1)`

/**
 * The state of a session, from which the runner decides its next step. `resting`: no turn runs; messages begin one.
 * `requires_action`: no turn runs until the open calls are answered. `awaits_servers`: a turn has begun and waits until
 * its MCP servers are listed. `budget_reached`: no turn runs until the budget is raised or removed. `budget_raised`: a
 * turn stopped at the budget, which now allows more. `evaluating`: the grader judges the work of the last turn, or did
 * so when the budget was reached.
 */
export type SessionState =
  | 'resting'
  | 'requires_action'
  | 'awaits_servers'
  | 'budget_reached'
  | 'budget_raised'
  | 'running'
  | 'rescheduling'
  | 'evaluating'
  | 'done'
  | 'deleted'

export function stateOf(head: Head): SessionState {
  const { status } = head
  switch (status) {
    case 'pending':
      return 'resting'
    case 'running':
      if (head.awaits_stdio === 1) return 'awaits_servers'
      // A session made with initial events is shown as running before its first turn.
      return head.running_since_ms === null ? 'resting' : workState(head, 'running')
    case 'rescheduling':
      return head.awaits_stdio === 1 ? 'awaits_servers' : workState(head, 'rescheduling')
    case 'idle':
      if (stopsForAction(head)) return 'requires_action'
      if (isAtBudget(head)) return 'budget_reached'
      return head.halted === 1 ? workState(head, 'budget_raised') : 'resting'
    case 'done':
    case 'failed':
      return 'done'
    case 'deleted':
      return 'deleted'
    default:
      return status satisfies never
  }
}

/** During an evaluation the grader works in place of the agent. */
const workState = ({ outcome }: HeadOutcome, state: SessionState): SessionState =>
  outcome === outcomeStage.evaluating ? 'evaluating' : state

/** True when the session accepts no more events. */
export const isSessionOver = ({ status }: Head): boolean =>
  status === 'deleted' || status === 'done' || status === 'failed'

const stopsForAction = ({ stop_reason }: Head): boolean =>
  stop_reason !== null && fromJson(stop_reason).type === 'requires_action'

/** `stopsForAction`, as a condition on a row of `session_heads`. */
export const requiresAction = sql<boolean>`status = 'idle' and coalesce(stop_reason, '') like '%"type":"requires_action"%'`
