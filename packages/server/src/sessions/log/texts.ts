/** Reads rows of a log by the sizes of their texts, which both databases know without reading the texts. */
import { sql } from 'kysely'
import { eventLoop, heavyBytes } from '../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { longBytes, readLongText } from './long-texts.ts'

export const dataSize = sql<number>`case when octet_length(data) > 0 then octet_length(data) else ${longBytes} end`
export const rowSize = sql<number>`${dataSize} + coalesce(octet_length(opaque), 0)`

/** A text up to this size is read with its row, so that a thousand rows have at most a few megabytes. */
export const shortBytes = 4096

/** A text column, or null when the row's `size` is above `shortBytes`; `withTexts` reads these later. */
export const shortText = <Name extends 'data' | 'opaque'>(column: Name, size: typeof rowSize) =>
  sql<
    Tables['events'][Name]
  >`case when ${size} > ${sql.lit(shortBytes)} then null else ${sql.ref(column)} end`.as(column)

type SizedRow = { seq: number; id: string; size: number; data: string }

/** The first rows, at most `limit`, up to and with the row that passes `bytes`. */
export function fittingRows<Row extends SizedRow>(
  found: readonly Row[],
  { limit, bytes }: { limit: number; bytes: number },
): Row[] {
  const rows: Row[] = []
  let sum = 0
  for (const row of found) {
    if (rows.length >= limit || sum >= bytes) break
    rows.push(row)
    sum += row.size
  }
  return rows
}

export const totalSize = (rows: readonly { size: number }[]): number =>
  rows.reduce((sum, { size }) => sum + size, 0)

/**
 * Adds the missing texts to the rows. Waits for a turn of the event loop before each heavy row, and once before the
 * others if they are heavy together. Leaves out rows of a session that was deleted meanwhile.
 */
export async function withTexts<Row extends SizedRow>(
  db: Reads,
  tenant: string,
  sessionId: string,
  found: readonly Row[],
): Promise<Row[]> {
  const long = found.filter(({ size }) => size > shortBytes)
  if (long.length === 0) return [...found]
  const texts = new Map<number, Pick<Row, 'data'>>()
  const read = async (seqs: number[]) => {
    const rows = await db
      .selectFrom('events')
      .select(found.some((row) => 'opaque' in row) ? ['seq', 'data', 'opaque'] : ['seq', 'data'])
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', sessionId)
      .where('seq', 'in', seqs)
      .execute()
    for (const row of rows) texts.set(row.seq, row)
  }
  const light = long.filter(({ size }) => size <= heavyBytes)
  if (totalSize(light) > heavyBytes) await eventLoop.wait(tenant)
  if (light.length > 0) await read(light.map(({ seq }) => seq))
  for (const { seq, size } of long) {
    if (size <= heavyBytes) continue
    await eventLoop.wait(tenant)
    await read([seq])
  }
  for (const { seq, id, size: bytes } of long) {
    const text = texts.get(seq)
    if (text?.data !== '') continue
    const data = await readLongText(db, { tenant, session: sessionId }, { id, bytes })
    if (data === undefined) texts.delete(seq)
    else texts.set(seq, { ...text, data })
  }
  return found.flatMap((row) => {
    if (row.size <= shortBytes) return row
    const text = texts.get(row.seq)
    return text ? { ...row, ...text } : []
  })
}
