/** Sessions in short: what lists of many need, read without the agents' prompts. */
import type { Session } from '@steward/protocol/sessions.ts'
import type { SessionSummary } from '@steward/protocol/workspace-stream.ts'
import { sql } from 'kysely'
import { inCents } from '../../ground/core/money.ts'
import type { Reads } from '../../ground/database/database.ts'
import { textBehind } from './cut-json.ts'
import { sessionStatus } from './show-session.ts'
import { waitStore } from './waits.ts'

/** Characters of a session's agent, and of its newest event, that hold their names. */
const namedLength = 600

const columns = [
  'session.id',
  'session.title',
  'session.agent_id',
  'session.agent_version',
  'session.environment_id',
  'session.deployment_id',
  'session.archived_at',
  'session.created_at',
  'session.updated_at',
  'head.status',
  'head.list_cost',
  'head.unpriced',
  'head.input_tokens',
  'head.output_tokens',
  'head.cache_read_input_tokens',
  'head.cache_creation_input_tokens',
  'event.seq',
  'event.type as event_type',
  'event.created_at as event_at',
  'event.thread_id',
] as const

const rowsOf = (db: Reads, tenant: string, ids: readonly string[]) =>
  db
    .selectFrom('sessions as session')
    .innerJoin('session_heads as head', 'head.session_id', 'session.id')
    .leftJoin('events as event', (join) =>
      join
        .onRef('event.session_id', '=', 'head.session_id')
        .onRef('event.seq', '=', 'head.next_seq'),
    )
    .select(columns)
    .select([
      sql<string>`substr(session.agent, 1, ${sql.lit(namedLength)})`.as('agent'),
      sql<string | null>`substr(event.data, 1, ${sql.lit(namedLength)})`.as('event_data'),
    ])
    .where('session.tenant_id', '=', tenant)
    .where('session.deleted_at', 'is', null)
    .where('session.id', 'in', ids)
    .execute()

type SummaryRow = Awaited<ReturnType<typeof rowsOf>>[number]

const isCall = /^agent\.(mcp_|custom_|advisor_)?tool_use$/

/** Summaries by id, of at most a few hundred sessions. A deleted session has none. */
export async function readSummaries(
  db: Reads,
  tenant: string,
  ids: readonly string[],
  now: number,
): Promise<Map<string, SessionSummary>> {
  if (ids.length === 0) return new Map()
  const rows = await rowsOf(db, tenant, ids)
  const waits = await waitStore(db).ofSessions(tenant, rows, now)
  return new Map(
    rows.map((row) => [row.id, { ...summaryOf(row), waiting_on: waits.get(row.id) ?? null }]),
  )
}

/** `waiting_on` says that a session asks its model again. */
const inWords = (status: Session['status']): SessionSummary['status'] =>
  status === 'rescheduling' ? 'running' : status

function summaryOf(row: SummaryRow): Omit<SessionSummary, 'waiting_on'> {
  const { id, title, agent_id, agent_version, environment_id, deployment_id } = row
  const { archived_at, created_at, updated_at } = row
  return {
    id,
    type: 'session_summary',
    status: inWords(sessionStatus(row, row.status)),
    title,
    agent_id,
    agent_version,
    agent_name: textBehind('name', row.agent) ?? '',
    environment_id,
    deployment_id,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_input_tokens: row.cache_read_input_tokens,
      cache_creation_input_tokens: row.cache_creation_input_tokens,
      list_cost: row.unpriced === 1 ? null : inCents(row.list_cost),
    },
    last_event: lastEvent(row),
    archived_at,
    created_at,
    updated_at,
  }
}

function lastEvent(row: SummaryRow): SessionSummary['last_event'] {
  const { seq, event_type: type, event_at: created_at, thread_id, event_data } = row
  if (seq === null || type === null || created_at === null) return null
  const tool = isCall.test(type) ? textBehind('name', event_data ?? '') : undefined
  return {
    seq,
    type,
    created_at,
    ...(tool !== undefined && { tool }),
    ...(thread_id && { session_thread_id: thread_id }),
  }
}
