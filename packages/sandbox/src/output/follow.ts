/** Looks at the output of a running command while somebody wishes to hear it. */
import type { OutputEnd, OutputMask, OutputPiece } from './piece.ts'
import { buildOutputPiece } from './piece.ts'

export type OutputListener = {
  /** Asked again and again. While it is false, nothing is read. */
  isWanted(): boolean
  tell(piece: OutputPiece): void
}

/** Milliseconds from the command's beginning to the first look, between two looks, and until a silence is told again. */
export type OutputPace = { firstMs: number; pauseMs: number; silenceMs: number }
export const usualPace: OutputPace = { firstMs: 100, pauseMs: 250, silenceMs: 2_000 }

/** Bytes that are read at a time. A secret is found with the text around it. */
const [readBytes, readMaskedBytes] = [8 << 10, 64 << 10]

type OutputReader = (asked: { most: number; known: number }) => Promise<OutputEnd | undefined>

/**
 * `read`: the end of the output, at most `most` bytes and without them when it still has `known` bytes; undefined while
 * the command does not run. The returned function ends the listening at once.
 */
export function followOutput(
  listener: OutputListener,
  read: OutputReader,
  mask?: OutputMask,
  pace = usualPace,
): () => void {
  const most = mask ? readMaskedBytes : readBytes
  let last: OutputPiece | undefined
  let lastMs = 0
  let isOver = false
  let timer = setTimeout(look, pace.firstMs)

  function next(ended: OutputEnd): OutputPiece | undefined {
    const { total, quietMs } = ended
    const now = performance.now()
    const isSilent = last?.total === total
    if (isSilent && now - lastMs < pace.silenceMs) return undefined
    lastMs = now
    if (!last || !isSilent) return buildOutputPiece(ended, last?.end ?? 0, mask)
    return { ...last, newIndex: last.text.length, newOffset: last.end, quietMs }
  }

  async function lookOnce(): Promise<void> {
    if (!listener.isWanted()) {
      last = undefined
      return
    }
    const known = last?.total ?? 0
    const ended = await read({ most, known })
    // A busy machine may not have begun the command at the first look.
    if (isOver || !ended) return
    const piece = next(ended)
    if (!piece) return
    last = piece
    listener.tell(piece)
  }

  function look(): void {
    lookOnce()
      // The command itself says that its sandbox has ended, and ends the listening.
      .catch(() => {})
      .finally(() => {
        if (!isOver) timer = setTimeout(look, pace.pauseMs)
      })
  }

  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
