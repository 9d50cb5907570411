/** What running commands write, as events of one reader. [events/ext/tool-output-chunks] */
import { sseFrame } from '../../ground/http/sse.ts'
import type { EventRow } from '../log/log.ts'
import type { ThreadOption } from '../../ground/core/refs.ts'
import type { CommandOutput } from '../log/topics.ts'

/** A slow reader, or a reader in another process, may get a piece after the result. */
const resultsRemembered = 500

const results = new Set(['agent.tool_result', 'user.tool_result'])
/** Within a text of the result the quotes are escaped. */
const callOf = (data: string): string | undefined => /"tool_use_id":"([^"]+)"/.exec(data)?.[1]

export function outputTexts(sessionId: string) {
  /** For each running call: the end of what the reader has. */
  const ends = new Map<string, number>()
  const settled = new Set<string>()

  return {
    /** Nothing more is told of a call that has its result. */
    note({ type, data }: EventRow): void {
      const call = results.has(type) ? callOf(data) : undefined
      if (call === undefined) return
      ends.delete(call)
      settled.add(call)
      const [oldest] = settled
      if (settled.size > resultsRemembered && oldest !== undefined) settled.delete(oldest)
    },

    /** A reader that lacks the piece before gets the end of all. */
    textOf(output: CommandOutput & ThreadOption): string {
      const { call, thread, text, end } = output
      if (settled.has(call)) return ''
      const isNext = ends.get(call) === output.newOffset
      ends.set(call, end)
      const shown = {
        type: 'agent.tool_use_output_chunk',
        session_id: sessionId,
        ...(thread !== undefined && { session_thread_id: thread }),
        tool_use_id: call,
        delta: isNext ? text.slice(output.newIndex) : text,
        offset: isNext ? output.newOffset : output.offset,
        end_offset: end,
        total_bytes: output.total,
        quiet_ms: output.quietMs,
      }
      return sseFrame(JSON.stringify(shown))
    },
  }
}
