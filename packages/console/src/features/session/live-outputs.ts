/** What running commands have written so far, by call: the end of it, as it comes. */
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import { formatBytes } from '../../lib/format/numbers.ts'
import { words } from '../../lib/words.ts'

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

const leftOut = (bytes: number): string => `${words.session.leftOut(formatBytes(bytes))}\n`

/** The end of a text, from the beginning of a line where one is near. */
function endOf(text: string): string {
  if (text.length <= mostKept) return text
  const end = text.slice(-mostKept).toWellFormed()
  const line = end.indexOf('\n')
  return line === -1 || line > mostKept / 2 ? end : end.slice(line + 1)
}

/** A piece that does not follow what is here says what is missing, or takes its place. */
export function withPiece(
  before: CallOutput | undefined,
  { delta, offset, end_offset: end, quiet_ms }: OutputChunk,
  now: number,
): CallOutput {
  const lastByteAt = now - quiet_ms
  if (before && offset === before.end) return { text: endOf(before.text + delta), end, lastByteAt }
  if (!before || offset < before.end)
    return { text: offset > 0 ? leftOut(offset) + delta : delta, end, lastByteAt }
  const line = before.text === '' || before.text.endsWith('\n') ? '' : '\n'
  const joined = before.text + line + leftOut(offset - before.end) + delta
  return { text: endOf(joined), end, lastByteAt }
}

const resultTypes: ReadonlySet<string> = new Set(['agent.tool_result', 'user.tool_result'])

/** The outputs of the calls that run. */
export function liveOutputs() {
  let outputs: ReadonlyMap<string, CallOutput> = new Map()
  const change = (make: (next: Map<string, CallOutput>) => void) => {
    const next = new Map(outputs)
    make(next)
    outputs = next
  }
  return {
    get: () => outputs,
    hear(event: LiveSessionEvent): void {
      if (event.type !== 'agent.tool_use_output_chunk') return
      const { tool_use_id: call } = event
      change((next) => next.set(call, withPiece(outputs.get(call), event, Date.now())))
    },
    /** Forgets what a result, or the end of the turn, takes the place of. */
    settle(event: SessionEvent): void {
      if (event.type === 'session.status_idle') outputs = new Map()
      else if ('tool_use_id' in event && resultTypes.has(event.type))
        change((next) => next.delete(String(event.tool_use_id)))
    },
  }
}
