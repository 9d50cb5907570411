/** What running commands have written so far, by call: the end of it, as it comes. */
import { useSyncExternalStore } from 'react'
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import { formatBytes } from '../../lib/format/numbers.ts'
import type { FollowedValue } from '../../lib/store.ts'
import { createStore } from '../../lib/store.ts'
import { talkWords } from '../../lib/session/talk-words.ts'

export type CallOutput = {
  text: string
  /** Bytes of the output up to the end of `text`. */
  end: number
  /** When the last byte came, or the command began: by the clock of this page. */
  lastByteAt: number
}

export type OutputChunk = Extract<LiveSessionEvent, { type: 'agent.tool_use_output_chunk' }>

/** Characters that a page keeps of one output. */
const mostKept = 16_000

const leftOut = (bytes: number): string => `${talkWords.leftOut(formatBytes(bytes))}\n`

/** The end of a text, from the beginning of a line where one is near. */
function endOf(text: string): string {
  if (text.length <= mostKept) return text
  const end = text.slice(-mostKept).toWellFormed()
  const line = end.indexOf('\n')
  return line === -1 || line > mostKept / 2 ? end : end.slice(line + 1)
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text of a piece behind `from`, as far as its bytes tell: where codes were removed, its places are not known. */
function behind({ delta, offset, end_offset }: OutputChunk, from: number): string | undefined {
  if (from === end_offset) return ''
  const bytes = encoder.encode(delta)
  const isExact = bytes.length === end_offset - offset && from < end_offset
  return isExact ? decoder.decode(bytes.subarray(from - offset)) : undefined
}

/**
 * A piece that does not follow what is here says what is missing. One that a stream tells again, as it does where it
 * begins anew, brings what is new, or takes the place of all.
 */
export function withPiece(
  before: CallOutput | undefined,
  piece: OutputChunk,
  now: number,
): CallOutput {
  const { delta, offset, end_offset: end } = piece
  const lastByteAt = now - piece.quiet_ms
  if (before && offset <= before.end) {
    const next = offset === before.end ? delta : behind(piece, before.end)
    if (next !== undefined) return { text: endOf(before.text + next), end, lastByteAt }
  }
  if (!before || offset < before.end)
    return { text: offset > 0 ? leftOut(offset) + delta : delta, end, lastByteAt }
  const line = before.text === '' || before.text.endsWith('\n') ? '' : '\n'
  const joined = before.text + line + leftOut(offset - before.end) + delta
  return { text: endOf(joined), end, lastByteAt }
}

const resultTypes: ReadonlySet<string> = new Set(['agent.tool_result', 'user.tool_result'])

/** The cards of calls follow them alone: nothing else is drawn anew for a piece. */
export type FollowedOutputs = FollowedValue<ReadonlyMap<string, CallOutput>>

/** What the command of one call has written so far: the pieces of other calls change nothing. */
export const useOutput = (
  { subscribe, get }: FollowedOutputs,
  call: string,
): CallOutput | undefined => useSyncExternalStore(subscribe, () => get().get(call))

/** The outputs of the calls that run. */
export function liveOutputs() {
  let outputs: ReadonlyMap<string, CallOutput> = new Map()
  const store: FollowedOutputs = createStore(outputs)
  const settled = new Set<string>()
  const change = (make: (next: Map<string, CallOutput>) => void) => {
    const next = new Map(outputs)
    make(next)
    outputs = next
  }
  return {
    store,
    /** Tells what has come since the last call. */
    show: () => store.set(outputs),
    /** A piece may come behind the result, by another way. */
    hear(event: LiveSessionEvent): void {
      if (event.type !== 'agent.tool_use_output_chunk' || settled.has(event.tool_use_id)) return
      const { tool_use_id: call } = event
      change((next) => next.set(call, withPiece(outputs.get(call), event, Date.now())))
    },
    /** Forgets what a result takes the place of. */
    settle(event: SessionEvent): void {
      if (!('tool_use_id' in event) || !resultTypes.has(event.type)) return
      const call = String(event.tool_use_id)
      settled.add(call)
      if (outputs.has(call)) change((next) => next.delete(call))
    },
    /** Nothing runs behind the end of a turn. */
    end({ type }: SessionEvent): void {
      if (type === 'session.status_idle' && outputs.size > 0) outputs = new Map()
    },
  }
}
