/** Answers requests whose bodies are still being sent. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * How many bytes of a refused body are discarded, and for how many milliseconds. A caller that sends its whole body
 * before it reads gets the answer; one that sends more is cut off.
 */
export const discardLimits = { bytes: 128 * 1024 * 1024, ms: 10_000 }

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined

/** True while a part of the request's body has not arrived. */
export const isBodyPending = (incoming: IncomingMessage): boolean =>
  hasBody(incoming) && !incoming.complete && !incoming.destroyed

/**
 * Sends the whole answer at once, and ends it when the body has been read. A connection that is closed while bytes
 * arrive is reset, and the caller may lose the answer.
 */
export function answerEarly(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  { status, headers, text }: { status: number; headers: Record<string, string>; text: string },
  { bytes: most, ms } = discardLimits,
): void {
  let bytes = 0
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    clearTimeout(late)
    incoming.off('data', count)
    if (!incoming.complete) outgoing.once('finish', () => incoming.socket.destroySoon())
    outgoing.end()
  }
  const count = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > most) end()
  }
  const late = setTimeout(end, ms)
  const length = String(Buffer.byteLength(text))
  outgoing.writeHead(status, { ...headers, 'content-length': length })
  outgoing.write(text)
  incoming.on('data', count).once('end', end).once('error', end).once('close', end).resume()
}
