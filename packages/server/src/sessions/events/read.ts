/** Pages and streams of a session's log. [events/page/envelope] [stream/live-only] */
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { EventListQuery } from '@steward/protocol/event-queries.ts'
import { z } from 'zod'
import type { Bus } from '../../ground/bus/bus.ts'
import { decodeCursor, encodeCursor } from '../../ground/core/text/cursor.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { eventLoop, heavyBytes } from '../../ground/core/fairness/event-loop.ts'
import { aboutForwardPage } from '../../ground/core/text/page.ts'
import type { Reads } from '../../ground/database/database.ts'
import { pageBytes } from '../../ground/database/listing.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import { readHead } from '../log/head.ts'
import type { LogRange } from '../log/log.ts'
import { eventText, findEvent, readLogPage } from '../log/log.ts'
import type { SessionRef, ThreadOption, ThreadRef } from '../../ground/core/refs.ts'
import { asThreadEvent, nameThread, toThreadStream } from '../log/threads/own-stream.ts'
import type { HeardWord, TailItem } from '../log/tail.ts'
import { tailPage, tailLog } from '../log/tail.ts'
import { listenToLiveWords, listenToOutput } from '../log/topics.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import { jsonTextReply, streamReply } from '../../ground/http/reply.ts'
import { lightTexts } from './light/show-light.ts'
import type { StreamView } from './wire.ts'
import type { WorkspaceChanges } from './workspace/changes.ts'
import { createPresenter } from './wire.ts'

const Position = z.tuple([z.int()])
const pieceLength = 16 * 1024

type EventPageQuery = Pick<EventListQuery, 'limit' | 'order'> & Partial<EventListQuery>

/** The default events, or exactly `types[]`. A filtered page may skip sequence numbers; the log has no gaps. */
export async function eventPage(
  read: Reads,
  tenant: string,
  sessionId: string,
  query: EventPageQuery,
  dialect: Dialect,
  thread?: string,
): Promise<RouteReply> {
  const { limit, order, types } = query
  const scope = `events/${thread ?? sessionId}/${order}`
  const cursor = query.page ?? query.cursor
  const position = cursor === undefined ? undefined : decodeCursor(cursor, scope, Position)[0]
  const range: LogRange = {
    after: Math.max(query.after_seq ?? 0, order === 'asc' ? (position ?? 0) : 0),
    before: order === 'desc' ? position : undefined,
    limit,
    order,
    types,
    thread,
    allThreads: query.threads === 'all',
    extensions: query.include?.includes('chunks'),
    dialect,
    processed: timeComparisons(query),
  }
  const page = await (query.view === 'light' ? lightTexts : wholeTexts)(
    read,
    { tenant, session: sessionId },
    range,
    dialect,
  )
  const last = page.rows.at(-1)
  const next = page.more && last ? encodeCursor(scope, [last.seq]) : null
  const ids = page.rows.map((row) => row.id)
  const about = JSON.stringify(aboutForwardPage(next, ids)).slice(1)
  return jsonTextReply(`{"data":[${page.texts.join(',')}],${about}`)
}

async function wholeTexts(
  read: Reads,
  { tenant, session: sessionId }: SessionRef,
  range: LogRange,
  dialect: Dialect,
) {
  const { rows, more, size } = await readLogPage(read, tenant, sessionId, {
    ...range,
    bytes: pageBytes,
  })
  if (size > heavyBytes) await eventLoop.wait(tenant)
  const named = range.allThreads ? rows.map(nameThread) : rows
  const shown = range.thread === undefined ? named : rows.map(asThreadEvent)
  return { rows, more, texts: shown.map((row) => eventText(sessionId, row, dialect)) }
}

/** An event of any thread, whole. */
export async function eventById(
  read: Reads,
  { tenant, session: sessionId }: SessionRef,
  id: string,
  dialect: Dialect,
): Promise<RouteReply> {
  const { next_seq: newest } = await readHead(read, tenant, sessionId)
  const seq = await findEvent(read, { tenant, session: sessionId }, id, newest)
  if (seq === undefined) throw notFound('event', id)
  const one = { after: seq - 1, before: seq + 1, limit: 1, extensions: true, allThreads: true }
  const { texts } = await wholeTexts(
    read,
    { tenant, session: sessionId },
    { ...one, order: 'desc' },
    dialect,
  )
  const [text] = texts
  if (text === undefined) throw notFound('event', id)
  return jsonTextReply(text)
}

/** All stored events, extensions too, as the text of one JSON array. Reads as fast as the consumer takes it. */
export async function* wholeLog(
  read: Reads,
  tenant: string,
  sessionId: string,
  dialect: Dialect,
): AsyncGenerator<string> {
  let text = '['
  let isFirst = true
  for (let after = 0; ;) {
    const { rows, more } = await readLogPage(read, tenant, sessionId, {
      after,
      extensions: true,
      ...tailPage,
    })
    for (const row of rows) {
      text += `${isFirst ? '' : ','}${eventText(sessionId, row, dialect)}`
      isFirst = false
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
    after = rows.at(-1)?.seq ?? after
    if (!more) break
    await eventLoop.wait(tenant)
  }
  yield `${text}]`
}

/** `waits`: for a stream that tells what its session waits for. */
type StreamSource = { read: Reads; bus: Bus; waits?: WaitSource }
export type WaitSource = Pick<WorkspaceChanges, 'followWait'>
type StreamStart = {
  replay: boolean
  lastEventId: string | null
  /** Returns a signal that ends the stream. Stops listening when its own signal aborts. */
  ends?: ((signal: AbortSignal) => AbortSignal) | undefined
}

/** Streams from the beginning, from a given event, or from now. `now` is fixed before the headers are sent. */
export async function eventStream(
  source: StreamSource,
  tenant: string,
  sessionId: string,
  view: StreamView,
  start: StreamStart & ThreadOption,
): Promise<RouteReply> {
  const { thread } = start
  const after = await startOf(source.read, tenant, sessionId, start)
  return streamReply((gone) => {
    const signal = start.ends?.(gone) ?? gone
    const { chunks: extensions, dialect } = view
    const tailed = tailLog(source, tenant, sessionId, {
      after,
      extensions,
      dialect,
      signal,
      thread,
      live: extensions ? liveParts(source, { tenant, session: sessionId, thread }) : undefined,
    })
    const own = thread === undefined ? tailed : toThreadStream(tailed)
    return streamTexts(own, sessionId, view, (each) => isKept(each, 'session.deleted'))
  })
}

/** Live words, what running commands write, and, in the stream of a session, what the session waits for. */
const liveParts =
  ({ bus, waits }: StreamSource, { tenant, session, thread }: ThreadRef) =>
  (hear: (word: HeardWord) => void): (() => void) => {
    const id = thread ?? session
    const leaves = [listenToLiveWords(bus, id, hear), listenToOutput(bus, id, hear)]
    if (waits && thread === undefined)
      leaves.push(
        waits.followWait(tenant, session, (waiting) => hear({ kind: 'waiting', waiting })),
      )
    return () => leaves.forEach((leave) => leave())
  }

/** Yields the text of each message until the last one. */
export async function* streamTexts(
  tailed: AsyncGenerator<TailItem>,
  sessionId: string,
  view: StreamView,
  isLast: (each: TailItem) => boolean,
): AsyncGenerator<string> {
  const present = createPresenter(sessionId, view)
  for await (const each of tailed) {
    const text = present(each)
    if (text !== '') yield text
    if (isLast(each)) return
  }
}

export const isKept = (each: TailItem, ...types: string[]): boolean =>
  each.kind === 'kept' && types.includes(each.row.type)

async function startOf(
  read: Reads,
  tenant: string,
  sessionId: string,
  start: StreamStart,
): Promise<number> {
  if (start.replay && !start.lastEventId) return 0
  const newest = (await readHead(read, tenant, sessionId)).next_seq
  if (!start.lastEventId) return newest
  const seq = Number(start.lastEventId)
  if (!/^\d+$/.test(start.lastEventId) || !Number.isSafeInteger(seq))
    throw invalid('Last-Event-ID: must be the seq of an event of this session')
  // The client's event may be missing, for example after a restored backup. Streaming from the newest event is better
  // than a stream that never shows anything.
  return Math.min(seq, newest)
}
