/** Finds events in the whole log of a session, part by part. [events/find] */
import { parseObject } from '@steward/base/json-object.ts'
import { callTypes } from '@steward/protocol/call-events.ts'
import type { FoundEvent } from '@steward/protocol/found-events.ts'
import { eventLoop, heavyBytes } from '../../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { fittingRows, shortBytes, totalSize, withTexts } from '../../log/texts.ts'
import { resultTypes } from '../light/steps.ts'
import type { CandidateRow, SearchScope } from './store.ts'
import { selectCandidates, selectSizes } from './store.ts'
import type { TextSearch } from './text-search.ts'
import { findText, firstText } from './text-search.ts'
import { toolNames } from './tool-names.ts'

export type EventSearch = {
  /** Undefined: any text. */
  text: TextSearch | undefined
  errors: boolean
  tool: string | undefined
  thread: string | null | undefined
  order: 'asc' | 'desc'
  /** The `seq` behind which the search goes on. */
  from: number | undefined
  limit: number
}

/** Rows whose sizes are read at a time. */
const sizesAtOnce = 1_000
/** Bytes that one statement searches: a millisecond of SQLite, which has the event loop meanwhile. */
const bytesAtOnce = 2 * 1024 * 1024
/** Texts that are read at a time, of events that may be what is searched for. */
const textsAtOnce = 100
/**
 * Bytes that one request searches, a quarter of a second of Postgres; a text that comes into the process counts twice
 * more. `rowBytes`: what a row counts beside its text.
 */
const bytesOfRequest = 40 * 1024 * 1024
const rowBytes = 512

const failing = [
  'session.error',
  'span.model_request_end',
  'span.compaction_summarize_end',
  'aux.model_call',
  ...resultTypes,
]

/**
 * At most `limit` events. `next`: where the search goes on; it ends before the end of the log when it has found enough,
 * or has read as much as one request may.
 */
export async function findEvents(
  db: Reads,
  ref: SessionRef,
  search: EventSearch,
): Promise<{ found: FoundEvent[]; next: number | undefined }> {
  const scope = scopeOf(search)
  const found: FoundEvent[] = []
  let searched = 0
  let from = search.from
  for (;;) {
    const sizes = await selectSizes(db, ref, scope, {
      from,
      order: search.order,
      limit: sizesAtOnce,
    })
    for (const part of partsOf(sizes)) {
      if (searched > bytesOfRequest) return { found, next: from }
      searched += part.bytes
      const { events, bytes } = await findInPart(db, ref, search, scope, part)
      searched += bytes
      found.push(...events)
      const last = found[search.limit - 1]
      if (last && found.length > search.limit)
        return { found: found.slice(0, search.limit), next: last.seq }
      from = part.last
    }
    if (sizes.length < sizesAtOnce) return { found, next: undefined }
  }
}

function scopeOf({ errors, tool, thread }: EventSearch): SearchScope {
  const ofTools = [...callTypes, ...resultTypes]
  const types = errors ? failing : tool === undefined ? undefined : ofTools
  return { thread, types: errors && tool !== undefined ? resultTypes : types }
}

/** `first` and `last`: in the order of the search. */
type SearchedPart = { first: number; last: number; bytes: number }

function partsOf(sizes: readonly { seq: number; size: number }[]): SearchedPart[] {
  const parts: SearchedPart[] = []
  for (const { seq, size } of sizes) {
    const part = parts.at(-1)
    if (!part || part.bytes >= bytesAtOnce) {
      parts.push({ first: seq, last: seq, bytes: size + rowBytes })
      continue
    }
    part.last = seq
    part.bytes += size + rowBytes
  }
  return parts
}

/** `bytes`: what the texts count that came into the process. */
async function findInPart(
  db: Reads,
  ref: SessionRef,
  { text, errors, tool, order, limit }: EventSearch,
  scope: SearchScope,
  { first, last }: SearchedPart,
): Promise<{ events: FoundEvent[]; bytes: number }> {
  await eventLoop.wait(ref.tenant)
  const candidates = await selectCandidates(db, ref, scope, {
    first: Math.min(first, last),
    last: Math.max(first, last),
    like: text?.like,
    errors,
  })
  const names = await toolNames(db, ref, candidates)
  const asked = candidates.filter(({ seq }) => tool === undefined || names.get(seq)?.includes(tool))
  if (order === 'desc') asked.reverse()
  const events: FoundEvent[] = []
  let bytes = 0
  for (let at = 0; at < asked.length && events.length <= limit;) {
    const rows = fittingRows(asked.slice(at, at + textsAtOnce), {
      limit: textsAtOnce,
      bytes: heavyBytes,
    })
    at += rows.length
    bytes += 2 * (totalSize(rows) + rows.length * rowBytes)
    for (const row of await readTexts(db, ref, rows)) {
      const tool = names.get(row.seq)?.[0]
      const event = foundIn(parseObject(row.data), row, { text, errors, tool })
      if (event) events.push(event)
    }
  }
  return { events, bytes }
}

/** Leaves out events of a session that was deleted meanwhile. */
const readTexts = (
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  rows: readonly CandidateRow[],
): Promise<CandidateRow[]> =>
  withTexts(
    db,
    tenant,
    sessionId,
    // What the rows have is the beginning of their texts: `withTexts` reads rows that say that they are long.
    rows.map((row) => ({ ...row, size: Math.max(row.size, shortBytes + 1) })),
  )

function foundIn(
  fields: Record<string, unknown>,
  { id, type, seq, thread_id, created_at }: CandidateRow,
  {
    text,
    errors,
    tool,
  }: { text: TextSearch | undefined; errors: boolean; tool: string | undefined },
): FoundEvent | undefined {
  const is_error = type === 'session.error' || fields['is_error'] === true
  if (errors && !is_error) return undefined
  const isResult = type.endsWith('_result')
  const excerpt = text ? findText(fields, text) : (firstText(fields, isResult && is_error) ?? null)
  if (excerpt === undefined) return undefined
  const session_thread_id = thread_id ?? null
  return { id, type, seq, session_thread_id, tool: tool ?? null, is_error, created_at, excerpt }
}
