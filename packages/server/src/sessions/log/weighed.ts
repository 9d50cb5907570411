/** Rows of a log by their sizes, which both databases know without reading a text. */
import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { eventLoop, heavyBytes } from '../../ground/core/loop.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Tables } from '../../ground/database/tables.ts'

export const rowSize = sql<number>`octet_length(data) + coalesce(octet_length(opaque), 0)`

/**
 * The rows of these places, no more than `bytes` of them but for the last one. Lengths alone are looked at before they
 * are summed up: a window over the column itself would load it whole.
 */
export function weighed(
  db: Queries,
  tenant: string,
  sessionId: string,
  sizes: SelectQueryBuilder<Tables, 'events', { place: number; size: number }>,
  { bytes, order }: { bytes: number; order: 'asc' | 'desc' },
) {
  const summed = db
    .selectFrom(sizes.as('sizes'))
    .select([
      ...(['place', 'size'] as const),
      sql<number>`sum(size) over (order by place ${sql.raw(order)})`.as('upto'),
    ])
  return db
    .selectFrom(summed.as('weighed'))
    .innerJoin('events', 'events.seq', 'weighed.place')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where(sql<boolean>`upto - size < ${bytes}`)
    .orderBy('seq', order)
}

/** A column of `weighed`, but for rows that hold the event loop when they are read; see `withTexts`. */
export const light = <Name extends 'data' | 'opaque'>(column: Name) =>
  sql<string>`case when size > ${sql.lit(heavyBytes)} then null else ${sql.ref(column)} end`.as(
    column,
  )

/** The same rows with their texts: each heavy one is read in its turn of the event loop. */
export async function withTexts<Row extends { seq: number; size: number; data: string }>(
  db: Queries,
  tenant: string,
  sessionId: string,
  found: Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  for (const row of found) {
    if (row.size <= heavyBytes) rows.push(row)
    else {
      await eventLoop.wait(tenant)
      const texts = await db
        .selectFrom('events')
        .select('opaque' in row ? ['data', 'opaque'] : ['data'])
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', sessionId)
        .where('seq', '=', row.seq)
        .executeTakeFirst()
      // Rows of a session that was deleted meanwhile are gone.
      if (texts) rows.push({ ...row, ...texts })
    }
  }
  return rows
}
