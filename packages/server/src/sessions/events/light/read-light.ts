/** Reads events without their long texts. [events/light] */
import { randomUUID } from 'node:crypto'
import { parseObject } from '@steward/base/json-object.ts'
import type { Cut } from '@steward/protocol/light-events.ts'
import { eventLoop } from '../../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { pageBytes } from '../../../ground/database/listing.ts'
import type { EventRow, LogRange } from '../../log/log.ts'
import { readSizedEvents } from '../../log/log.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import type { RequestCost } from '../../log/spent.ts'
import { spentIn } from '../../log/spent.ts'
import { shortBytes, withTexts } from '../../log/texts.ts'
import type { KeptLengths, LightFields } from './cut-fields.ts'
import { cutFields } from './cut-fields.ts'
import type { TextEnds } from './text-ends.ts'
import { isBlocks, readEnds, readEndsOfPieces } from './text-ends.ts'

export type LightRow = Omit<EventRow, 'data'> & {
  fields: Record<string, unknown>
  cut: Cut[]
  spent: RequestCost | undefined
}
type SizedEvent = EventRow & { size: number; spent: string | null }

const rowsAtOnce = 101

/** Stands between the beginning and the end of a text. No text of a caller holds it. */
const mark = randomUUID()

/** What people and agents say is read where it stands; a result is opened when it is of interest. */
export function keptLengths(type: string): KeptLengths {
  if (type.endsWith('_result')) return { head: 400, tail: 200 }
  if (type.endsWith('tool_use')) return { head: 400, tail: 0 }
  if (type.endsWith('message') || type.includes('thread_message')) return { head: 2_000, tail: 0 }
  return { head: 1_000, tail: 0 }
}

/**
 * A page ends before texts that the database cannot cut would pass `pageBytes` together. `more`: further events follow.
 */
export async function readLightPage(
  db: Reads,
  ref: SessionRef,
  range: LogRange,
): Promise<{ rows: LightRow[]; more: boolean }> {
  const found = await readSized(db, ref, { ...range, limit: range.limit + 1 })
  const asked = found.slice(0, range.limit)
  const long = asked.filter(({ size }) => size > shortBytes)
  const ends = await readEnds(db, ref, long)
  for (const { seq, id } of long) {
    if (ends.has(seq)) continue
    const ofPieces = await readEndsOfPieces(db, ref, id)
    if (ofPieces) ends.set(seq, ofPieces)
  }
  const light = new Map<number, LightFields>()
  for (const row of asked) {
    const fields = row.size <= shortBytes ? cutShort(row) : cutByEnds(row, ends.get(row.seq))
    if (fields) light.set(row.seq, fields)
  }
  const kept = fittingBeside(asked, light)
  const whole = kept.filter(({ seq }) => !light.has(seq))
  for (const row of await withTexts(db, ref.tenant, ref.session, whole))
    light.set(row.seq, cutShort(row))
  return {
    rows: kept.flatMap((row) => {
      const fields = light.get(row.seq)
      return fields ? [lightRow(row, fields)] : []
    }),
    more: kept.length < found.length,
  }
}

/** SQLite walks through the long texts of the rows to the columns behind them, so few are read at a time. */
async function readSized(
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  { limit, ...range }: LogRange,
): Promise<SizedEvent[]> {
  const found: SizedEvent[] = []
  for (;;) {
    const last = found.at(-1)?.seq
    const behind =
      last !== undefined && (range.order === 'desc' ? { before: last } : { after: last })
    const asked = { ...range, ...behind, limit: Math.min(rowsAtOnce, limit - found.length) }
    const rows = await readSizedEvents(db, tenant, sessionId, asked)
    found.push(...rows)
    if (rows.length < rowsAtOnce || found.length >= limit) return found
    await eventLoop.wait(tenant)
  }
}

function lightRow(
  { size: _, data: _data, spent, ...row }: SizedEvent,
  { fields, cut }: LightFields,
): LightRow {
  return { ...row, fields, cut, spent: spentIn(spent) }
}

const cutShort = ({ type, data }: EventRow): LightFields =>
  cutFields(parseObject(data), keptLengths(type))

/** Undefined when more than one text is long, so that beginning and end do not tell what is between them. */
function cutByEnds(
  { type, size }: SizedEvent,
  ends: TextEnds | undefined,
): LightFields | undefined {
  if (!ends || ends.opens) return undefined
  const { head, tail, headBytes } = ends
  const bytes = size - headBytes - Buffer.byteLength(tail)
  let fields: Record<string, unknown>
  try {
    fields = parseObject(head + mark + tail)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const light = cutFields(fields, keptLengths(type), { mark, bytes })
  // Other texts of a block have further texts beside them, which the database does not look for.
  const isAlone =
    light.gapAt !== undefined && (!isBlocks({ type }) || /\/(text|data)$/.test(light.gapAt))
  return isAlone ? light : undefined
}

/** The first rows, of which those that are read whole fit a page. */
function fittingBeside(
  rows: readonly SizedEvent[],
  light: ReadonlyMap<number, LightFields>,
): SizedEvent[] {
  let bytes = 0
  const end = rows.findIndex(({ seq, size }) => {
    if (light.has(seq)) return false
    const isFirst = bytes === 0
    bytes += size
    return !isFirst && bytes > pageBytes
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}
