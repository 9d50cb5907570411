import type { Page } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { invalid } from '../errors.ts'

/** A side, `created_at` and `id` of the row where a page begins or ends. */
const Position = z.tuple([z.enum(['after', 'before']), z.string(), z.string()])

export type ListedRow = { id: string; created_at: string }
/** Rows in the order in which they were read. `more`: further rows follow. */
export type Listing<Row> = { rows: Row[]; more: boolean }
export type Paging = {
  limit: number
  order: 'asc' | 'desc'
  from?: { side: 'after' | 'before'; created_at: string; id: string }
}
export type PageQuery = {
  limit?: number | undefined
  page?: string | undefined
  cursor?: string | undefined
  order?: 'asc' | 'desc' | undefined
}

export const defaultLimit = 100

/** The requested page; the cursor is `page` or `cursor`. `scope` names the list: other lists' cursors are refused. */
export function readPaging(scope: string, query: PageQuery): Paging {
  const order = query.order ?? 'desc'
  const limit = query.limit ?? defaultLimit
  const cursor = query.page ?? query.cursor
  if (cursor === undefined) return { limit, order }
  const [side, created_at, id] = decodeCursor(cursor, `${scope}/${order}`, Position)
  return { limit, order, from: { side, created_at, id } }
}

/** Maps each row of a listing. */
export const mapListing = <Row, Item>(
  { rows, more }: Listing<Row>,
  show: (row: Row) => Item,
): Listing<Item> => ({ rows: rows.map(show), more })

/** What a page says of itself that is read in one direction. `next`: the cursor of what follows, null at the end. */
export const aboutForwardPage = (next: string | null, ids: readonly (string | null)[] = []) => ({
  has_more: next !== null,
  next_page: next,
  prev_page: null,
  first_id: ids[0] ?? null,
  last_id: ids.at(-1) ?? null,
})

/** The envelope around a page that is read in one direction. `ids`: of the items, where they have any. */
export const forwardPage = <Item>(
  data: Item[],
  next: string | null,
  ids?: readonly (string | null)[],
) => ({ data, ...aboutForwardPage(next, ids) })

/** The envelope around a list that is never longer than a page. */
export const wholePage = <Item>(data: Item[], ids?: readonly string[]) =>
  forwardPage(data, null, ids)

/** The side of a page that is asked for by the id of a neighbour. The rows of a side `before` are read backwards. */
export type IdSide = { side: 'after' | 'before'; id: string }

/** Throws when both neighbours are named. */
export function readIdSide({
  after_id: after,
  before_id: before,
}: {
  after_id?: string | undefined
  before_id?: string | undefined
}): IdSide | undefined {
  if (before === undefined) return after === undefined ? undefined : { side: 'after', id: after }
  if (after !== undefined) throw invalid('before_id: may not stand beside after_id')
  return { side: 'before', id: before }
}

/** The rows of a list on that side of one of them, in the order in which they are read. */
export function besideIn<Row extends { id: string }>(
  rows: readonly Row[],
  from: IdSide | undefined,
): Row[] {
  if (!from) return [...rows]
  const at = rows.findIndex(({ id }) => id === from.id)
  return from.side === 'after' ? rows.slice(at + 1) : rows.slice(0, at).toReversed()
}

/** The envelope around a page by ids. `rows`: in the order in which they were read, one more than `limit` at most. */
export function pageById<Item extends { id: string }>(
  rows: readonly Item[],
  limit: number,
  from: IdSide | undefined,
) {
  const read = rows.slice(0, limit)
  const data = from?.side === 'before' ? read.toReversed() : read
  return {
    data,
    has_more: rows.length > limit,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

/** The envelope around a page of rows. The rows of a `prev_page` were read backwards and are turned around. */
export function buildPage<Row extends ListedRow, Item>(
  scope: string,
  { order, from }: Paging,
  { rows, more }: Listing<Row>,
  show: (row: Row) => Item,
): Page<Item> & { first_id: string | null; last_id: string | null } {
  const back = from?.side === 'before'
  const kept = back ? rows.toReversed() : rows
  const [first, last] = [kept[0], kept.at(-1)]
  const position = (side: string, row: Row) =>
    encodeCursor(`${scope}/${order}`, [side, row.created_at, row.id])
  const forward = last && (back || more)
  const backward = first && (back ? more : from !== undefined)
  return {
    data: kept.map(show),
    has_more: Boolean(forward),
    next_page: forward ? position('after', last) : null,
    prev_page: backward ? position('before', first) : null,
    first_id: first?.id ?? null,
    last_id: last?.id ?? null,
  }
}
