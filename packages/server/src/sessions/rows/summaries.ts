/** Sessions in short: what lists of many need, read without the agents' prompts. */
import { callTypes } from '@steward/protocol/call-events.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import type { SessionSummary, SummaryOrder } from '@steward/protocol/session-summaries.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { creatorColumns, showCreator } from '../../ground/core/creator.ts'
import { inCents } from '../../ground/core/text/money.ts'
import type { Reads } from '../../ground/database/database.ts'
import { wholeMinute } from '../log/head.ts'
import { textBehind } from './cut-json.ts'
import type { SessionFilter } from './filters.ts'
import { firstMessage, hasFailed, isFound } from './filters.ts'
import { sessionStatus } from './show-session.ts'
import { waitStore } from './waits.ts'

/** The beginning of the newest error of a session. */
const lastError = sql<string>`(select substr(error.data, 1, 600) from events as error
  where error.session_id = sessions.id and error.type = 'session.error' order by error.seq desc limit 1)`

/** Characters of a session's agent, and of its newest event, that hold their names. */
const namedLength = 600

const columns = [
  'sessions.id',
  'sessions.title',
  'sessions.agent_id',
  'sessions.agent_version',
  'sessions.environment_id',
  'sessions.deployment_id',
  'sessions.archived_at',
  'sessions.created_at',
  'sessions.updated_at',
  'head.status',
  'head.list_cost',
  'head.unpriced',
  'head.turns',
  'head.active_ms',
  'head.running_since_ms',
  'head.input_tokens',
  'head.output_tokens',
  'head.cache_read_input_tokens',
  'head.cache_creation_input_tokens',
  'event.seq',
  'event.type as event_type',
  'event.created_at as event_at',
  'event.thread_id',
  ...creatorColumns,
] as const

const rowsOf = (db: Reads, tenant: string, ids: readonly string[]) =>
  db
    .selectFrom('sessions')
    .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
    .leftJoin('events as event', (join) =>
      join
        .onRef('event.session_id', '=', 'head.session_id')
        .onRef('event.seq', '=', 'head.next_seq'),
    )
    .select(columns)
    .select([
      sql<string>`substr(sessions.agent, 1, ${sql.lit(namedLength)})`.as('agent'),
      sql<string | null>`substr(event.data, 1, ${sql.lit(namedLength)})`.as('event_data'),
      firstMessage.as('first_message'),
      sql<string | null>`case when ${hasFailed} then ${lastError} end`.as('failure'),
    ])
    .where('sessions.tenant_id', '=', tenant)
    .where('sessions.deleted_at', 'is', null)
    .where('sessions.id', 'in', ids)
    .execute()

type SummaryRow = Awaited<ReturnType<typeof rowsOf>>[number]

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
    rows.map((row) => [row.id, { ...summaryOf(row, now), waiting_on: waits.get(row.id) ?? null }]),
  )
}

/** `waiting_on` says that a session asks its model again. */
const inWords = (status: Session['status']): SessionSummary['status'] =>
  status === 'rescheduling' ? 'running' : status

function summaryOf(row: SummaryRow, now: number): Omit<SessionSummary, 'waiting_on'> {
  const { id, title, agent_id, agent_version, environment_id, deployment_id } = row
  const { archived_at, created_at, updated_at } = row
  return {
    id,
    type: 'session_summary',
    status: inWords(sessionStatus(row, row.status)),
    title,
    first_words: firstWords(row.first_message),
    agent_id,
    agent_version,
    agent_name: textBehind('name', row.agent) ?? '',
    environment_id,
    deployment_id,
    created_by: showCreator(row),
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_input_tokens: row.cache_read_input_tokens,
      cache_creation_input_tokens: row.cache_creation_input_tokens,
      list_cost: row.unpriced === 1 ? null : inCents(row.list_cost),
    },
    turns: row.turns,
    active_seconds:
      (row.active_ms + (row.running_since_ms === null ? 0 : now - row.running_since_ms)) / 1000,
    last_event: lastEvent(row),
    failure: shortened(textBehind('message', row.failure ?? ''), longestFailure),
    archived_at,
    created_at,
    updated_at,
  }
}

function lastEvent(row: SummaryRow): SessionSummary['last_event'] {
  const { seq, event_type: type, event_at: created_at, thread_id, event_data } = row
  if (seq === null || type === null || created_at === null) return null
  const tool = callTypes.some((call) => call === type)
    ? textBehind('name', event_data ?? '')
    : undefined
  return {
    seq,
    type,
    created_at,
    ...(tool !== undefined && { tool }),
    ...(thread_id && { session_thread_id: thread_id }),
  }
}

/** Characters of a title that is made from a message. */
const longestTitle = 120
const longestFailure = 300

/** The beginning of a text as one line, without a word that is cut in two. */
function shortened(text: string | undefined, longest = longestTitle): string | null {
  const line = text?.replaceAll(/\s+/g, ' ').trim() ?? ''
  if (line === '') return null
  if (line.length <= longest) return line.toWellFormed()
  const cut = line.slice(0, longest)
  const end = cut.lastIndexOf(' ')
  return `${(end > longest / 2 ? cut.slice(0, end) : cut).toWellFormed()}…`
}

const firstWords = (message: string | null): string | null =>
  shortened(textBehind('text', message ?? ''))

/** What each order compares, as a column of `sessions` with `head`. */
const orders: Record<SummaryOrder, RawBuilder<string | number>> = {
  created: sql`sessions.created_at`,
  active: sql`head.changed_ms`,
  cost: sql`head.list_cost`,
  tokens: sql`(head.input_tokens + head.output_tokens + head.cache_read_input_tokens
    + head.cache_creation_input_tokens)`,
  ran: sql`head.active_ms`,
}

export type SummaryPaging = {
  limit: number
  sort: SummaryOrder
  order: 'asc' | 'desc'
  /** The value and the id of the row before the page. */
  after?: readonly [value: string | number, id: string] | undefined
}

/** Sessions in this order, with the value by which each is ordered. `more`: others follow. */
export async function listSummaries(
  db: Reads,
  tenant: string,
  { limit, sort, order, after }: SummaryPaging,
  filter: SessionFilter,
  now: number,
): Promise<{ rows: { value: string | number; summary: SessionSummary }[]; more: boolean }> {
  const by = orders[sort]
  const past = sql.raw(order === 'asc' ? '>' : '<')
  let rows = db
    .selectFrom('sessions')
    .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
    .select(['sessions.id', by.as('value')])
    .where('sessions.tenant_id', '=', tenant)
    .where('deleted_at', 'is', null)
    // The head of a session has the same tenant. Without this, heads of all workspaces are read where they come first.
    .where('head.tenant_id', '=', tenant)
    .where(isFound(db, tenant, filter, now))
  if (after)
    rows = rows.where(sql<boolean>`(${by}, sessions.id) ${past} (${after[0]}, ${after[1]})`)
  const found = await rows
    .orderBy(by, order)
    .orderBy('sessions.id', order)
    .limit(limit + 1)
    .execute()
  const page = found.slice(0, limit)
  const ids = page.map(({ id }) => id)
  const summaries = await readSummaries(db, tenant, ids, now)
  return {
    rows: page.flatMap(({ id, value }) => {
      const summary = summaries.get(id)
      return summary ? [{ value, summary }] : []
    }),
    more: found.length > limit,
  }
}

/** Sessions whose turn runs, or waits to ask its model again. */
export async function countRunning(db: Reads, tenant: string): Promise<number> {
  const { count } = await db
    .selectFrom('session_heads')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    // By the index of sessions that a process holds.
    .where('owner', 'is not', null)
    .where('tenant_id', '=', tenant)
    .where('status', 'in', ['running', 'rescheduling'])
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Sessions whose last turn has failed since a time. */
export async function countFailed(db: Reads, tenant: string, since: number): Promise<number> {
  const { count } = await db
    .selectFrom('session_heads as head')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('head.tenant_id', '=', tenant)
    .where('head.changed_ms', '>=', wholeMinute(since))
    .where('head.idle_since_ms', '>=', since)
    .where(hasFailed)
    .executeTakeFirstOrThrow()
  return Number(count)
}
