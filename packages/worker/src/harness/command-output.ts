/** Tells the service what running commands write, while somebody there listens. */
import type Anthropic from '@anthropic-ai/sdk'
import type { OutputListener } from '@steward/sandbox/output/follow.ts'
import type { OutputPiece } from '@steward/sandbox/output/piece.ts'
import type { CommandOutputReport, CommandOutputWish } from '@steward/protocol/command-output.ts'

/** Resolves with whether anybody listens; undefined when the service cannot be told. */
export type ReportOutput = (report: CommandOutputReport) => Promise<boolean | undefined>

/** Milliseconds from the beginning of a call to the first question whether anybody listens, and between two questions. */
const [firstAskMs, askAgainMs] = [500, 2_000]

const reportWithinMs = 5_000

/** Two pieces that follow each other as one, if the text of the second has room for what is new in both. */
export function joinPieces(first: OutputPiece | undefined, second: OutputPiece): OutputPiece {
  if (!first) return second
  const length = first.text.length - first.newIndex + second.text.length - second.newIndex
  const isWithin = first.newOffset >= second.offset && length <= second.text.length
  if (first.end === second.newOffset && isWithin)
    return { ...second, newIndex: second.text.length - length, newOffset: first.newOffset }
  return { ...second, newIndex: 0, newOffset: second.offset }
}

const wirePiece = (piece: OutputPiece): CommandOutputReport['output'] => ({
  text: piece.text,
  offset: piece.offset,
  new_index: piece.newIndex,
  new_offset: piece.newOffset,
  end_offset: piece.end,
  total_bytes: piece.total,
  quiet_ms: piece.quietMs,
})

/** A service that is away, or knows no such request, is asked again later: what is not told is not lost. */
export const reportTo =
  (client: Pick<Anthropic, 'post'>, session: string): ReportOutput =>
  async (body) => {
    try {
      const path = `/v1/ext/command-output/${session}`
      const options = { body, maxRetries: 0, timeout: reportWithinMs }
      return (await client.post<CommandOutputWish>(path, options)).is_wanted
    } catch {
      return undefined
    }
  }

/** The listener of one call. It has one request open at a time; pieces that come meanwhile are joined. */
export function outputReporter(
  call: string,
  report: ReportOutput,
  now: () => number = () => performance.now(),
): OutputListener {
  let isWanted = false
  let isAsking = false
  let nextAsk = now() + firstAskMs
  let waiting: OutputPiece | undefined

  async function send(piece?: OutputPiece): Promise<void> {
    isAsking = true
    nextAsk = now() + askAgainMs
    const answer = await report({
      tool_use_id: call,
      ...(piece && { output: wirePiece(piece) }),
    })
    isAsking = false
    isWanted = answer ?? false
    const next = waiting
    waiting = undefined
    if (isWanted && next) await send(next)
  }

  return {
    isWanted() {
      if (!isAsking && !isWanted && now() >= nextAsk) void send()
      return isWanted
    },
    tell(piece) {
      if (isAsking) waiting = joinPieces(waiting, piece)
      else void send(piece)
    },
  }
}
