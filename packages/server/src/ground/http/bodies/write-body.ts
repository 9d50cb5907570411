/** Writes a body piece by piece, as fast as its reader takes it. */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { freeMemory, ownsMemory } from '../../core/fairness/stream-memory.ts'
import type { Clock } from '@steward/base/time.ts'

/** Pieces of text. The signal aborts when the reader disconnects. */
export type TextPieces = (signal: AbortSignal) => AsyncIterable<string>

/** Bytes that are passed to the connection at once. The rest of a large piece waits. */
const sliceBytes = 64 * 1024
/** Characters that are encoded at once, because the longest texts would hold the event loop. */
const blockLength = 1024 * 1024
/** Milliseconds without a taken slice after which a reader is cut off. A stream's reader resumes by `Last-Event-ID`. */
export const stalledMs = 60_000

/** Aborts when the reader disconnects. */
export function readerSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}

/**
 * Resolves when all text is written, or the reader has disconnected or stalled. Rejects when the texts do. When `ends`
 * aborts, the body ends after the current piece as a complete one.
 */
export async function writeTexts(
  response: ServerResponse,
  texts: AsyncIterable<string>,
  { ends, clock }: { ends: AbortSignal; clock: Clock },
): Promise<void> {
  for await (const text of texts) {
    if (ends.aborted) break
    if (!(await writeSlices(response, text, clock))) return
  }
  if (!response.destroyed) response.end()
}

/**
 * Like `writeTexts`, for bytes. Destroys the body when the reader disconnects. With `ours`, frees the memory of pieces
 * once they are written.
 */
export async function writeBytes(
  response: ServerResponse,
  body: Readable,
  { clock, ours = false }: { clock: Clock; ours?: boolean | undefined },
): Promise<void> {
  response.once('close', () => body.destroy())
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (response.write(chunk)) continue
      if (!(await taken(response, clock))) return
      if (ours && ownsMemory(chunk)) freeMemory(chunk.buffer)
    }
  } catch (error) {
    if (response.destroyed) return
    throw error
  }
  response.end()
}

/** Returns false when the reader is gone. */
async function writeSlices(response: ServerResponse, text: string, clock: Clock): Promise<boolean> {
  if (text.length < sliceBytes / 4) return response.write(text) || taken(response, clock)
  for (let from = 0; from < text.length;) {
    const to = endOfBlock(text, from)
    const bytes = Buffer.from(text.slice(from, to))
    from = to
    // Sliced by bytes: a string could be cut within a character.
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      if (!response.write(bytes.subarray(at, at + sliceBytes)) && !(await taken(response, clock)))
        return false
    }
  }
  return true
}

/** The end of the next block to encode. Cuts no surrogate pair. */
function endOfBlock(text: string, from: number): number {
  const end = from + blockLength
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00

/** Waits until the written bytes have left. Cuts off a reader that does not take them in time. */
async function taken(response: ServerResponse, clock: Clock): Promise<boolean> {
  if (response.destroyed) return false
  const moved = new AbortController()
  // Without a reason, each abort would create an error with a stack trace.
  const move = () => moved.abort('moved')
  response.once('drain', move).once('close', move)
  await clock.sleep(stalledMs, moved.signal)
  response.off('drain', move).off('close', move)
  if (!moved.signal.aborted) response.destroy()
  return !response.destroyed
}
