/**
 * The texts of a session's stream: the default events, and the families that the reader requested.
 * [stream/default-union]
 */
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { LiveFrame, StreamedType } from '@steward/harness/turn.ts'
import type { WaitingOn } from '@steward/protocol/waiting-on.ts'
import type { StreamQuery } from '@steward/protocol/event-queries.ts'
import type { EventRow, StoredEvent } from '../log/log.ts'
import { eventText } from '../log/log.ts'
import type { ThreadOption } from '../../ground/core/refs.ts'
import type { TailItem } from '../log/tail.ts'
import { outputTexts } from './output-texts.ts'
import { sseFrame } from '../../ground/http/sse.ts'

export type StreamView = {
  chunks: boolean
  deltas: readonly string[]
  dialect: Dialect
  /** The id of a kept event in the stream. Default: its `seq`. */
  idOf?: (seq: number) => string
}

export const readStreamView = (query: StreamQuery, dialect: Dialect): StreamView => ({
  chunks: query.include?.includes('chunks') ?? false,
  deltas: query.event_deltas ?? [],
  dialect,
})

/** Name of the id field in a family's events. */
const idNames: Record<StreamedType, string> = {
  'agent.message': 'message_id',
  'agent.thinking': 'thinking_id',
  'agent.tool_use_input': 'tool_use_id',
}
const streamed = /^agent\.(message|thinking|((mcp|custom|advisor)_)?tool_use)$/
type OpenStreams = Map<string, StreamedType>
const suffixes = { start: '_stream_start', chunk: '_chunk', end: '_stream_end' } as const

/** A slow reader, or a reader in another process, may get pieces of a block after the whole block. */
const wholesRemembered = 500

/**
 * Builds the text of one reader. The reader gets pieces of a block only if it saw the block's start and not yet the
 * whole. The pieces therefore always form a prefix of the whole, before it.
 */
export function createPresenter(sessionId: string, view: StreamView): (tailed: TailItem) => string {
  // A reader without live pieces needs almost no memory; there may be very many such readers.
  const { dialect } = view
  if (!view.chunks && view.deltas.length === 0)
    return (tailed) => keptOrQueued(sessionId, tailed, view)
  const begun: OpenStreams = new Map()
  const whole = new Set<string>()
  const outputs = outputTexts(sessionId)

  function isWhole(row: EventRow): string {
    const { id, type } = row
    outputs.note(row)
    if (!streamed.test(type)) return ''
    whole.add(id)
    const [oldest] = whole
    if (whole.size > wholesRemembered && oldest) whole.delete(oldest)
    const of = begun.get(id)
    return of ? frameText(sessionId, { kind: 'end', of, id }, view, begun) : ''
  }

  return (tailed) => {
    switch (tailed.kind) {
      case 'kept':
        return isWhole(tailed.row) + keptText(sessionId, tailed.row, view)
      case 'queued': {
        const waiting = {
          type: 'system.user_message_pending',
          message_id: tailed.event.id,
          session_id: sessionId,
        }
        return (
          storedText(sessionId, tailed.event, dialect) +
          (view.chunks ? sseFrame(JSON.stringify(waiting)) : '')
        )
      }
      case 'promoted': {
        const promoted = {
          type: 'system.user_message_promoted',
          message_id: tailed.id,
          session_id: sessionId,
        }
        return view.chunks ? sseFrame(JSON.stringify(promoted)) : ''
      }
      case 'output':
        return view.chunks ? outputs.textOf(tailed.output) : ''
      case 'waiting':
        return view.chunks ? waitingText(sessionId, tailed.waiting) : ''
      case 'frame':
        return whole.has(tailed.frame.id) ? '' : frameText(sessionId, tailed.frame, view, begun)
    }
  }
}

function keptOrQueued(sessionId: string, tailed: TailItem, view: StreamView): string {
  if (tailed.kind === 'kept') return keptText(sessionId, tailed.row, view)
  return tailed.kind === 'queued' ? storedText(sessionId, tailed.event, view.dialect) : ''
}

const waitingText = (session_id: string, waiting_on: WaitingOn): string =>
  sseFrame(JSON.stringify({ type: 'session.waiting_changed', session_id, waiting_on }))

const keptText = (sessionId: string, row: EventRow, { dialect, idOf }: StreamView): string =>
  sseFrame(eventText(sessionId, row, dialect), idOf ? idOf(row.seq) : row.seq)

const storedText = (sessionId: string, event: StoredEvent, dialect: Dialect): string =>
  sseFrame(eventText(sessionId, event, dialect))

function frameText(
  sessionId: string,
  shown: LiveFrame & ThreadOption,
  view: StreamView,
  begun: OpenStreams,
): string {
  if (shown.kind === 'first_token') {
    const { id, ms } = shown
    return view.chunks
      ? sseFrame(
          JSON.stringify({
            type: 'span.model_first_token',
            model_request_start_id: id,
            ms,
            session_id: sessionId,
          }),
        )
      : ''
  }
  if (shown.kind === 'start') begun.set(shown.id, shown.of)
  else if (!begun.has(shown.id)) return ''
  if (shown.kind === 'end') begun.delete(shown.id)
  return (
    (view.chunks ? chunkText(sessionId, shown) : '') +
    (view.deltas.includes(shown.of) ? deltaText(shown) : '')
  )
}

type StreamedFrame = Exclude<LiveFrame, { kind: 'first_token' }> & ThreadOption
/** The text of a frame, shared by all its readers. */
const chunkTexts = new WeakMap<StreamedFrame, string>()

function chunkText(sessionId: string, shown: StreamedFrame): string {
  const known = chunkTexts.get(shown)
  if (known !== undefined) return known
  const { kind, of, id } = shown
  const type = of + suffixes[kind]
  const extra =
    kind === 'chunk'
      ? { delta: shown.delta }
      : kind === 'start' && shown.name
        ? { name: shown.name }
        : {}
  const threadField = shown.thread === undefined ? {} : { session_thread_id: shown.thread }
  const text = sseFrame(
    JSON.stringify({ type, session_id: sessionId, ...threadField, [idNames[of]]: id, ...extra }),
  )
  chunkTexts.set(shown, text)
  return text
}

/** Thinking gets a start event and no pieces. */
function deltaText(shown: StreamedFrame): string {
  const { kind, of, id } = shown
  if (kind === 'start')
    return sseFrame(JSON.stringify({ type: 'event_start', event: { type: of, id } }))
  if (kind !== 'chunk' || of !== 'agent.message') return ''
  const content = { type: 'text', text: shown.delta }
  return sseFrame(
    JSON.stringify({
      type: 'event_delta',
      event_id: id,
      delta: { type: 'content_delta', index: 0, content },
    }),
  )
}
