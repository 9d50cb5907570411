/** SQL of searches in a log. */
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { dialectOf } from '../../../ground/database/dialect.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { isOfThread } from '../../log/thread-columns.ts'
import { dataSize } from '../../log/texts.ts'

/** Which events are searched. `thread`: the id of a child thread; null: the primary one; undefined: all threads. */
export type SearchScope = {
  thread: string | null | undefined
  types: readonly string[] | undefined
}

const inScope = (
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  { thread, types }: SearchScope,
) => {
  let rows = db
    .selectFrom('events')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
  if (thread !== undefined) rows = rows.where(isOfThread(thread ?? undefined))
  if (types) rows = rows.where('type', 'in', types)
  return rows
}

/** The next events from a place on, with the bytes of their texts, which are not read. */
export const selectSizes = (
  db: Reads,
  ref: SessionRef,
  scope: SearchScope,
  { from, order, limit }: { from: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<{ seq: number; size: number }[]> => {
  let rows = inScope(db, ref, scope)
  if (from !== undefined) rows = rows.where('seq', order === 'asc' ? '>' : '<', from)
  return rows
    .select(['seq', dataSize.as('size')])
    .orderBy('seq', order)
    .limit(limit)
    .execute()
}

/** `data` is the beginning of the event's text; `size` is that of the whole. */
export type CandidateRow = {
  seq: number
  id: string
  type: string
  created_at: string
  processed_at: string | null
  thread_id?: string | null
  size: number
  data: string
}

/**
 * The events between two places that may be what is searched for. A text that is stored in pieces is not searched here,
 * and always may be.
 */
export const selectCandidates = (
  db: Reads,
  ref: SessionRef,
  scope: SearchScope,
  {
    first,
    last,
    like,
    errors,
  }: { first: number; last: number; like?: string | undefined; errors: boolean },
): Promise<CandidateRow[]> => {
  // LIKE of SQLite knows no case of ASCII letters; for Postgres the collation says that only these change.
  const text = dialectOf(db as Queries) === 'postgres' ? sql`lower(data collate "C")` : sql`data`
  let rows = inScope(db, ref, scope).where('seq', '>=', first).where('seq', '<=', last)
  if (like !== undefined)
    rows = rows.where(sql<boolean>`(${text} like ${like} escape '!' or data = '')`)
  if (errors)
    rows = rows.where(sql<boolean>`(type = 'session.error' or data like '%"is_error":true%')`)
  return rows
    .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'thread_id', dataSize.as('size')])
    .select(sql<string>`substr(data, 1, 400)`.as('data'))
    .orderBy('seq')
    .execute()
}
