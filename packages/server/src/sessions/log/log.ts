/** A session's events in one sequence without gaps. Nothing here notifies: the caller notifies after its commit. */
import type { Price } from '@steward/model/price.ts'
import type { EventType, NewEvent } from '@steward/protocol/events.ts'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { eventInDialect, hiddenTypes, isTranslated } from '@steward/protocol/dialects.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { eventLoop } from '../../ground/core/fairness/event-loop.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statementByForm, selectStatement } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { ThreadOption, SessionRef, ThreadRef } from '../../ground/core/refs.ts'
import { isAmong, isOfThread, sessionColumns } from './thread-columns.ts'
import { dataSize, fittingRows, rowSize, shortText, totalSize, withTexts } from './texts.ts'
import { parseObject } from '@steward/base/json-object.ts'

/**
 * `data`: the fields of the event as JSON text, if the caller has it already. `thread`: the child thread of the event.
 * `web_searches`: requests to the search engine that the event is the result of. `retry_ms`: the pause after an error
 * until the model is asked again.
 */
export type LogEntry = {
  event: NewEvent
  data?: string
  opaque?: string
  model?: PricedModel
  web_searches?: number
  retry_ms?: number
} & ThreadOption

/** The model whose usage an event reports, and its price at that time; null for a model without a price. */
export type PricedModel = { name: string; price: Price | null }

/**
 * A message from the inbox. Its text goes into the log unchanged; it is empty for a long text, which is stored in
 * pieces.
 */
export type PromotedMessage = Pick<StoredEvent, 'id' | 'type' | 'created_at' | 'data'> &
  ThreadOption

/** A stored event. `thread_id` is set when the query covers several threads. */
export type EventRow = Pick<
  Tables['events'],
  'seq' | 'id' | 'type' | 'created_at' | 'processed_at' | 'data'
> &
  Partial<Pick<Tables['events'], 'thread_id'>>

/** An event of the log, or a message in the inbox, which has no number yet. */
export type StoredEvent = Omit<EventRow, 'seq'> & { seq: number | null }

/** The event of a row, as it was appended. */
export const eventOf = ({ id, type, data }: Pick<EventRow, 'id' | 'type' | 'data'>): NewEvent =>
  ({ ...parseObject(data), id, type }) as NewEvent

/** The wire form of an event. [events/object] */
export function showEvent(sessionId: string, row: StoredEvent, dialect: Dialect) {
  const { id, type, seq, created_at, processed_at } = row
  const position = { id, type, session_id: sessionId, seq, created_at, processed_at }
  return eventInDialect(position, parseObject(row.data), dialect)
}

/** `showEvent` as JSON text. The stored text is parsed only when the dialect translates the event. */
export function eventText(sessionId: string, row: StoredEvent, dialect: Dialect): string {
  if (isTranslated(row.type, dialect)) return JSON.stringify(showEvent(sessionId, row, dialect))
  const { id, type, seq, created_at, processed_at, data } = row
  const columns = JSON.stringify({ id, type, session_id: sessionId, seq, created_at, processed_at })
  const fields = data === '{}' ? '{' : `${data.slice(0, -1)},`
  const again = dialect === 'interface' ? `,"data":${data}}` : '}'
  return `${fields}${columns.slice(1, -1)}${again}`
}

export type LogRange = {
  after?: number | undefined
  before?: number | undefined
  limit: number
  order?: 'asc' | 'desc' | undefined
  /** Exactly these types. Undefined: the default types of the dialect, or all types with `extensions`. */
  types?: readonly string[] | undefined
  extensions?: boolean | undefined
  dialect?: Dialect | undefined
  /** Bounds on `processed_at`, as ISO text in UTC. */
  processed?: { op: '>' | '>=' | '<' | '<='; at: string }[] | undefined
  /** The id of a child thread; null: the primary thread alone; undefined: the stream of the session. */
  thread?: string | null | undefined
  /** Events of every thread, in place of `thread`. */
  allThreads?: boolean | undefined
}

const basicColumns = ['seq', 'id', 'type', 'created_at', 'processed_at'] as const

/** Stored events in order of `seq`. Reads their texts, however large. Long texts are left empty. */
export const readEvents = (
  db: Reads,
  tenant: string,
  sessionId: string,
  range: LogRange,
): Promise<EventRow[]> =>
  selectRange(db, { tenant_id: tenant, session_id: sessionId }, range)
    .select([...basicColumns, 'data'])
    .orderBy('seq', range.order ?? 'asc')
    .limit(range.limit)
    .execute()

/** A value, or the slot for it in a statement that is compiled once. */
type ValueOrSlot<T> = T | RawBuilder<T>
type SlottedSession = { tenant_id: ValueOrSlot<string>; session_id: ValueOrSlot<string> }
type SlottedRange = Omit<LogRange, 'after' | 'limit' | 'thread'> & {
  after?: ValueOrSlot<number> | undefined
  thread?: ValueOrSlot<string> | null | undefined
}

function selectRange(db: Reads, { tenant_id, session_id }: SlottedSession, range: SlottedRange) {
  const { after, before, types, extensions, dialect = 'interface', processed = [] } = range
  let rows = db
    .selectFrom('events')
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
  if (!range.allThreads) rows = rows.where(isAmong(range.thread))
  if (after !== undefined) rows = rows.where('seq', '>', after)
  if (before !== undefined) rows = rows.where('seq', '<', before)
  if (types) rows = rows.where('type', 'in', types)
  else if (!extensions) rows = rows.where('type', 'not in', hiddenTypes[dialect])
  for (const { op, at } of processed) rows = rows.where('processed_at', op, at)
  return rows
}

const selectSized = (db: Reads, ref: SlottedSession, range: SlottedRange) =>
  selectRange(db, ref, range)
    .select([...basicColumns, 'thread_id', dataSize.as('size'), shortText('data', dataSize)])
    .orderBy('seq', range.order ?? 'asc')

/** Events that report the usage of a model: their `opaque` says what it cost. */
const spending = sql<
  string | null
>`case when type in ('span.model_request_end', 'span.compaction_summarize_end', 'aux.model_call') then opaque end`

/** Rows without their long texts: `data` is null where `size` is above `shortBytes`. `spent`: see `spent.ts`. */
export const readSizedEvents = (db: Reads, tenant: string, sessionId: string, range: LogRange) =>
  selectSized(db, { tenant_id: tenant, session_id: sessionId }, range)
    .select(spending.as('spent'))
    .limit(range.limit)
    .execute()

type TailQuery = SessionRef & { after: number; limit: number }

const tailSlots = (slot: SlotFor<TailQuery>) => ({
  ref: sessionColumns(slot),
  after: slot(({ after }) => after),
  limit: slot(({ limit }) => limit),
})

/** The queries that every stream repeats, compiled once. */
const tailStatement = {
  interface: tailFor({ dialect: 'interface', extensions: false }),
  client: tailFor({ dialect: 'client', extensions: false }),
  whole: tailFor({ dialect: 'interface', extensions: true }),
  ofAllThreads: tailFor({ dialect: 'interface', extensions: true, allThreads: true }),
}

function tailFor(shown: Pick<LogRange, 'dialect' | 'extensions' | 'allThreads'>) {
  return selectStatement((db, slot: SlotFor<TailQuery>) => {
    const { ref, after, limit } = tailSlots(slot)
    return selectSized(db, ref, { ...shown, after }).limit(limit)
  })
}

const isPlainTail = ({ before, order, types, processed, thread }: LogRange): boolean =>
  before === undefined && order !== 'desc' && !types && !processed?.length && thread === undefined

/**
 * Like `readEvents`, with long texts, and stops after the event that passes `bytes`: a log may hold a thousand events
 * of many megabytes. `more`: further events follow. `size`: bytes of the returned events.
 */
export async function readLogPage(
  db: Reads,
  tenant: string,
  sessionId: string,
  { bytes, ...range }: LogRange & { bytes: number },
): Promise<{ rows: EventRow[]; more: boolean; size: number }> {
  const { after = 0, dialect = 'interface', extensions } = range
  const form = range.allThreads ? 'ofAllThreads' : extensions ? 'whole' : dialect
  const limit = range.limit + 1
  const found = isPlainTail(range)
    ? await tailStatement[form](db, { tenant, session: sessionId, after, limit })
    : await selectSized(db, { tenant_id: tenant, session_id: sessionId }, range)
        .limit(limit)
        .execute()
  const rows = fittingRows(found, { limit: range.limit, bytes })
  return {
    rows: await withTexts(db, tenant, sessionId, rows),
    more: rows.length < found.length,
    size: totalSize(rows),
  }
}

const historyStatement = statementByForm((whose: 'primary' | 'child', ...types: EventType[]) =>
  selectStatement((db, slot: SlotFor<TailQuery & ThreadOption>) => {
    const { ref, after, limit } = tailSlots(slot)
    const thread = slot((behind) => behind.thread ?? '')
    const own = selectRange(db, ref, { after, types, ...(whose === 'child' && { thread }) })
    return (whose === 'child' ? own : own.where('thread_id', 'is', null))
      .select([
        ...basicColumns,
        rowSize.as('size'),
        shortText('data', rowSize),
        shortText('opaque', rowSize),
      ])
      .orderBy('seq')
      .limit(limit)
  }),
)

/**
 * Reads the events that the model's history is built from: only these types, with the `opaque` column, which no client
 * sees. Stops after the row that passes `bytes`. `more`: further rows follow.
 */
export async function readHistory(
  db: Reads,
  tenant: string,
  sessionId: string,
  {
    types,
    bytes,
    thread,
    ...range
  }: { after: number; types: readonly EventType[]; limit: number; bytes: number } & ThreadOption,
): Promise<{ rows: (EventRow & { opaque: string | null })[]; more: boolean }> {
  const behind = { tenant, session: sessionId, after: range.after, limit: range.limit + 1, thread }
  const whose = thread === undefined ? 'primary' : 'child'
  const found = await historyStatement(whose, ...types)(db, behind)
  const rows = fittingRows(found, { limit: range.limit, bytes })
  return { rows: await withTexts(db, tenant, sessionId, rows), more: rows.length < found.length }
}

/**
 * The `seq` of the newest compaction boundary; 1 without one. The boundary holds everything that a model is shown of
 * the events before it. Searches from the end of the log, over no more events than the caller reads afterwards.
 */
export async function lastBoundary(
  db: Reads,
  { tenant, session: sessionId, thread }: ThreadRef,
): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('seq')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where(isOfThread(thread))
    .where('type', '=', 'agent.thread_context_compacted')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 1
}

type SpanName = 'span.model_request' | 'span.compaction_summarize'

/** The id of the start event of the newest span, if the span has no end event. */
export async function danglingSpan(
  db: Reads,
  { tenant, session: sessionId, thread }: ThreadRef,
  span: SpanName,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('events')
    .select(['id', 'type'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where(isOfThread(thread))
    .where('type', 'in', [`${span}_start`, `${span}_end`])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.type === `${span}_start` ? row.id : undefined
}

/** Rows that one statement searches for an id: SQLite walks through their long texts, on the event loop. */
const idsAtOnce = 500

/** The `seq` of an event, searched for from the end of the log: ids have no index. */
export async function findEvent(
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  id: string,
  newest: number,
): Promise<number | undefined> {
  for (let last = newest; last > 0; last -= idsAtOnce) {
    if (last < newest) await eventLoop.wait(tenant)
    const row = await db
      .selectFrom('events')
      .select('seq')
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', sessionId)
      .where('seq', '>', last - idsAtOnce)
      .where('seq', '<=', last)
      .where('id', '=', id)
      .executeTakeFirst()
    if (row) return row.seq
  }
  return undefined
}

/** Single events by `seq`, for open calls. */
export const readAt = (
  db: Reads,
  tenant: string,
  sessionId: string,
  seqs: number[],
): Promise<EventRow[]> =>
  db
    .selectFrom('events')
    .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'data'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()

/**
 * Removes events from the beginning of a log that nobody reads any more: at most `limit` rows, and no row after the one
 * that passes `bytes`. Returns true when none are left.
 */
export async function removeOldest(
  tx: Queries,
  tenant: string,
  sessionId: string,
  { limit, bytes }: { limit: number; bytes: number },
): Promise<boolean> {
  const oldest = await tx
    .selectFrom('events')
    .select(['seq', rowSize.as('size')])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .orderBy('seq')
    .limit(limit)
    .execute()
  let sum = 0
  const last = oldest.find(({ size }) => (sum += size) >= bytes) ?? oldest.at(-1)
  if (!last) return true
  await tx
    .deleteFrom('events')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('seq', '<=', last.seq)
    .execute()
  return oldest.length < limit && last === oldest.at(-1)
}
