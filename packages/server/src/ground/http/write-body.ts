/** A body written piece by piece, as fast as its reader takes it and no faster. */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { freeMemory, ownsMemory } from '../core/stream-memory.ts'
import type { Clock } from '@steward/base/time.ts'

/** Pieces of text as they come; given up when the reader goes away. */
export type TextPieces = (signal: AbortSignal) => AsyncIterable<string>

/** Bytes that wait for a reader; what a large piece has beyond them is not handed to the connection yet. */
const sliceBytes = 64 * 1024
/** Characters that are encoded at once: the longest texts would hold the event loop. */
const blockLength = 1024 * 1024
/** A reader that takes not even one slice in so long is let go: a stream's comes back with `Last-Event-ID`. */
export const stalledMs = 60_000

/** Aborts when the reader goes away. */
export function readerSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}

/**
 * Resolves when all is handed over, or the reader has left or stands still; rejects when the texts do. At the signal the body
 * ends where it stands, as one that is whole.
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
 * As `writeTexts`; whoever writes the body is told when its reader is gone. Pieces that are `ours` are given back as
 * soon as they are on their way.
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

/** False when the reader is gone. */
async function writeSlices(response: ServerResponse, text: string, clock: Clock): Promise<boolean> {
  if (text.length < sliceBytes / 4) return response.write(text) || taken(response, clock)
  for (let from = 0; from < text.length;) {
    const to = endOfBlock(text, from)
    const bytes = Buffer.from(text.slice(from, to))
    from = to
    // By bytes: a string may be cut within a character.
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      if (!response.write(bytes.subarray(at, at + sliceBytes)) && !(await taken(response, clock)))
        return false
    }
  }
  return true
}

/** A block of the text to encode at once; no surrogate pair is cut. */
function endOfBlock(text: string, from: number): number {
  const end = from + blockLength
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00

/** Waits until what was written is gone; a reader that does not take it is cut off. */
async function taken(response: ServerResponse, clock: Clock): Promise<boolean> {
  if (response.destroyed) return false
  const moved = new AbortController()
  // Without a reason, an abort makes an error with its trace for each slice.
  const move = () => moved.abort('moved')
  response.once('drain', move).once('close', move)
  await clock.sleep(stalledMs, moved.signal)
  response.off('drain', move).off('close', move)
  if (!moved.signal.aborted) response.destroy()
  return !response.destroyed
}
