/** Light pages as texts. */
import type { Dialect } from '@steward/protocol/dialects.ts'
import { eventInDialect } from '@steward/protocol/dialects.ts'
import type { EventStep } from '@steward/protocol/light-events.ts'
import { eventLoop } from '../../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { LogRange } from '../../log/log.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { withoutThreadName, withThreadName } from '../../log/threads/own-stream.ts'
import type { LightRow } from './read-light.ts'
import { readLightPage } from './read-light.ts'
import { readSteps } from './steps.ts'

/** Characters of the events of one page. */
const longestPage = 1_000_000

type LightPage = { rows: LightRow[]; texts: string[]; more: boolean }

/** Events as texts of JSON, of a page that ends before it is longer than a megabyte. */
export async function lightTexts(
  db: Reads,
  ref: SessionRef,
  range: LogRange,
  dialect: Dialect,
): Promise<LightPage> {
  const { rows, more } = await readLightPage(db, ref, range)
  const steps = await readSteps(db, ref, rows)
  if (rows.length > 100) await eventLoop.wait(ref.tenant)
  const texts: string[] = []
  let length = 0
  for (const row of rows) {
    const text = JSON.stringify(
      shown(ref.session, row, { range, dialect, step: steps.get(row.seq) }),
    )
    length += text.length
    if (length > longestPage && texts.length > 0) break
    texts.push(text)
  }
  return { rows: rows.slice(0, texts.length), texts, more: more || texts.length < rows.length }
}

function shown(
  session_id: string,
  { id, type, seq, created_at, processed_at, fields, cut, ...row }: LightRow,
  { range, dialect, step }: { range: LogRange; dialect: Dialect; step: EventStep | undefined },
): object {
  const columns = { id, type, session_id, seq, created_at, processed_at }
  const named = range.allThreads
    ? withThreadName(row, fields)
    : range.thread === undefined
      ? fields
      : withoutThreadName(type, fields)
  const { data: _, ...event } = eventInDialect(columns, named, dialect)
  return { ...event, ...(cut.length > 0 && { cut }), ...(step && { step }) }
}
