import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import { sql } from 'kysely'
import { notFound } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { HeadStatus } from '../../ground/database/tables.ts'
import { fromJson, toJson } from '../../ground/core/json-text.ts'
import type { Json } from '../../ground/core/json-text.ts'

/** What status an event leaves its session in; the log's head follows the log, in the same commit. */
const statusAfter: Partial<Record<NewEvent['type'], HeadStatus>> = {
  'session.status_running': 'running',
  'session.status_rescheduled': 'rescheduling',
  'session.status_idle': 'idle',
  'session.status_terminated': 'done',
  'session.deleted': 'deleted',
}

const counters = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

/**
 * Whether a turn begins or comes on with this event. What its session says of the turn meanwhile, errors and warnings, is
 * nothing of it. A message that waited does not come here: its turn's beginning does.
 */
const isOfTurn = ({ type }: NewEvent): boolean =>
  type === 'session.status_run_started' || /^(agent|user)\./.test(type)

/** The columns of the head that these events move, besides `next_seq`. */
export function headChange(events: readonly NewEvent[], now: number) {
  const status = events
    .map((event) => statusAfter[event.type])
    .findLast((word) => word !== undefined)
  const idle = events.findLast((event) => event.type === 'session.status_idle')
  const change: Record<string, unknown> = {}
  if (status) {
    change['status'] = status
    if (status === 'idle') change['idle_since_ms'] = now
    change['stop_reason'] = status === 'idle' && idle ? toJson(idle.stop_reason) : null
    const began = sql.ref<number | null>('running_since_ms')
    if (status === 'running') change['running_since_ms'] = sql`coalesce(${began}, ${now})`
    else {
      change['active_ms'] = sql`active_ms + coalesce(${now} - ${began}, 0)`
      change['running_since_ms'] = null
    }
  }
  if (events.some(isOfTurn)) change['recoveries'] = 0
  for (const name of counters) {
    let sum = 0
    for (const event of events) {
      if ('model_usage' in event) sum += event.model_usage[name]
    }
    if (sum > 0) change[name] = sql`${sql.ref(name)} + ${sum}`
  }
  return change
}

export type Head = {
  status: HeadStatus
  stop_reason: Json<StopReason> | null
  next_seq: number
  due: number
  owner: string | null
  previous_owner: string | null
  generation: number
  recoveries: number
  running_since_ms: number | null
  active_ms: number
  idle_since_ms: number | null
  stdio_ms: number | null
  awaits_stdio: number
  url_servers: number
} & Record<(typeof counters)[number], number>

const columns = [
  ...([
    'status',
    'stop_reason',
    'next_seq',
    'due',
    'owner',
    'previous_owner',
    'generation',
    'recoveries',
    'running_since_ms',
    'active_ms',
    'idle_since_ms',
    'stdio_ms',
    'awaits_stdio',
    'url_servers',
  ] as const),
  ...counters,
] as const

export async function readHead(db: Queries, tenant: string, sessionId: string): Promise<Head> {
  return db
    .selectFrom('session_heads')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
}

/** The head, and no other writer until the transaction ends; throws not_found. What is read before it may be old. */
export async function lockHead(tx: Queries, tenant: string, sessionId: string): Promise<Head> {
  return tx
    .updateTable('session_heads')
    .set((eb) => ({ due: eb.ref('due') }))
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .returning(columns)
    .executeTakeFirstOrThrow(() => notFound('session', sessionId))
}

/** The head as `session.usage` and the session show it. */
export function usageOf(head: Head, now: number) {
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
  }
}

/**
 * Where a session stands. `resting`: no turn; messages begin one. `requires_action`: no turn until its open calls are
 * answered. `awaits_servers`: a turn has begun, and nobody runs it until its MCP servers are listed.
 */
export type SessionState =
  | 'resting'
  | 'requires_action'
  | 'awaits_servers'
  | 'running'
  | 'rescheduling'
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
      return head.running_since_ms === null ? 'resting' : 'running'
    case 'rescheduling':
      return head.awaits_stdio === 1 ? 'awaits_servers' : 'rescheduling'
    case 'idle':
      return stopsForAction(head) ? 'requires_action' : 'resting'
    case 'done':
    case 'failed':
      return 'done'
    case 'deleted':
      return 'deleted'
    default:
      return status satisfies never
  }
}

const stopsForAction = ({ stop_reason }: Head): boolean =>
  stop_reason !== null && fromJson(stop_reason).type === 'requires_action'
