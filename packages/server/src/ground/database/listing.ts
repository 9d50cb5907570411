/** Reads the rows of a list: a page ends at its limit of rows or of bytes, whichever comes first. */
import type { RawBuilder, SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Listing, Paging } from '../core/text/page.ts'
import { eventLoop, heavyBytes } from '../core/fairness/event-loop.ts'
import { orderPage } from './page-order.ts'

/** Bytes of the rows of one page. A page holds at least one row, however large that row is. */
export const pageBytes = 4 * 1024 * 1024

/** Bytes that count for all short columns of a row together. */
const rowBytes = 512

/** SQL for the bytes of a row, by its long columns. Both databases know a column's length without reading it. */
export const rowWeight = (...columns: string[]): RawBuilder<number> =>
  sql.join(
    [sql.lit(rowBytes), ...columns.map((name) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`)],
    sql` + `,
  )

/**
 * The first rows of an ordered query. First reads the weights (bytes) of `limit` rows, so that no long column is loaded
 * in vain.
 */
export async function readListing<Schema, Of extends keyof Schema, Row>(
  tenant: string,
  ordered: SelectQueryBuilder<Schema, Of, Row>,
  { limit, weight }: { limit: number; weight: RawBuilder<number> },
): Promise<Listing<Row>> {
  const weigh = async () => {
    const weights = await ordered
      .clearSelect()
      .select(weight.as('weight'))
      .$castTo<{ weight: number }>()
      .limit(limit + 1)
      .execute()
    return { ...fitPage(weights.map((each) => each.weight)), seen: weights.length }
  }
  let page = await weigh()
  if (page.bytes > heavyBytes) {
    await eventLoop.wait(tenant)
    // Rows may have grown during the wait.
    page = await weigh()
  }
  // One row more than the limit shows whether rows follow, also rows inserted between the two statements.
  const isCut = page.fitting < page.seen
  const found = await ordered.limit(isCut ? page.fitting : limit + 1).execute()
  return { rows: found.slice(0, limit), more: isCut || found.length > limit }
}

/** Number of first rows that fit a page, and their bytes. */
export function fitPage(weights: readonly number[]): { fitting: number; bytes: number } {
  let bytes = 0
  for (const [index, weight] of weights.entries()) {
    if (index > 0 && bytes + weight > pageBytes) return { fitting: index, bytes }
    bytes += weight
  }
  return { fitting: weights.length, bytes }
}

/** A page of rows that have `created_at` and `id`, in the order in which they are read. */
export function readPage<Schema, Of extends keyof Schema, Row>(
  tenant: string,
  rows: SelectQueryBuilder<Schema, Of, Row>,
  paging: Paging,
  weight: RawBuilder<number>,
): Promise<Listing<Row>> {
  const { begins, way } = orderPage(paging)
  const ordered = rows.where(begins).orderBy(sql.ref('created_at'), way).orderBy(sql.ref('id'), way)
  return readListing(tenant, ordered, { limit: paging.limit, weight })
}
