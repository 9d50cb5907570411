import type { Page } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from './cursor.ts'

/** Where a page of things sorted by time begins or ends. */
const Place = z.tuple([z.enum(['after', 'before']), z.string(), z.string()])

export type ListedRow = { id: string; created_at: string }
/** Rows in the order in which they were read, and whether there are more behind them. */
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

/** The page asked for, under whichever name the cursor came. `scope` keeps cursors of one list out of another. */
export function readPaging(scope: string, query: PageQuery): Paging {
  const order = query.order ?? 'desc'
  const limit = query.limit ?? defaultLimit
  const cursor = query.page ?? query.cursor
  if (cursor === undefined) return { limit, order }
  const [side, created_at, id] = decodeCursor(cursor, `${scope}/${order}`, Place)
  return { limit, order, from: { side, created_at, id } }
}

/** A listing of what is made of each row. */
export const listingOf = <Row, Item>(
  { rows, more }: Listing<Row>,
  show: (row: Row) => Item,
): Listing<Item> => ({ rows: rows.map(show), more })

/** The envelope around a list that is never longer than a page. */
export const wholePage = <Item>(data: Item[]) => ({
  data,
  has_more: false,
  next_page: null,
  prev_page: null,
  first_id: null,
  last_id: null,
})

/** The envelope around a page of rows, which were read backwards when the page was asked for by `prev_page`. */
export function pageOf<Row extends ListedRow, Item>(
  scope: string,
  { order, from }: Paging,
  { rows, more }: Listing<Row>,
  show: (row: Row) => Item,
): Page<Item> & { first_id: string | null; last_id: string | null } {
  const back = from?.side === 'before'
  const kept = back ? rows.toReversed() : rows
  const [first, last] = [kept[0], kept.at(-1)]
  const place = (side: string, row: Row) =>
    encodeCursor(`${scope}/${order}`, [side, row.created_at, row.id])
  const forward = last && (back || more)
  const backward = first && (back ? more : from !== undefined)
  return {
    data: kept.map(show),
    has_more: Boolean(forward),
    next_page: forward ? place('after', last) : null,
    prev_page: backward ? place('before', first) : null,
    first_id: first?.id ?? null,
    last_id: last?.id ?? null,
  }
}
