/** Writes server-sent events directly to node's response. [stream/frame] */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@steward/base/time.ts'
import type { StreamSlot } from './streams.ts'
import type { TextPieces } from './bodies/write-body.ts'
import { writeTexts } from './bodies/write-body.ts'

const keepAliveMs = 15_000
const open = new Set<ServerResponse>()
let beating: NodeJS.Timeout | undefined

/** One event. Clients drop events without an `event:` line; every version of the official client knows `message`. */
export const sseFrame = (data: string, id?: number | string): string =>
  id === undefined
    ? `event: message\ndata: ${data}\n\n`
    : `event: message\nid: ${id}\ndata: ${data}\n\n`

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/**
 * Sends the headers at once, then each frame as it comes. A slow reader delays only its own stream. Releases the slot
 * when the stream ends. Rejects when the frames do; the caller then destroys the response.
 */
export async function writeStream(
  response: ServerResponse,
  frames: TextPieces,
  { headers, clock, slot }: { headers: Record<string, string>; clock: Clock; slot: StreamSlot },
): Promise<void> {
  try {
    response.once('close', () => slot.end())
    if (response.destroyed) slot.end()
    // Requested before the headers are sent, so that the frames see every later act of the reader.
    const texts = frames(slot.signal)
    response.socket?.setNoDelay(true).setTimeout(0)
    response.writeHead(200, { ...headers, ...streamHeaders })
    forget(response.req)
    response.write(': open\n\n')
    keepAlive(response)
    await writeTexts(response, texts, { ends: slot.signal, clock })
  } finally {
    open.delete(response)
    slot.leave()
  }
}

/** Frees the headers of a request, which a stream would hold for hours. */
function forget(request: IncomingMessage): void {
  request.headers = {}
  request.rawHeaders = []
}

/** Adds the stream to the keep-alive timer of all streams: proxies and clients end a silent body. */
function keepAlive(response: ServerResponse): void {
  open.add(response)
  beating ??= setInterval(() => {
    keepStreamsAlive()
    if (open.size > 0) return
    clearInterval(beating)
    beating = undefined
  }, keepAliveMs).unref()
}

/** Writes a comment to every open stream whose reader is not behind. */
export function keepStreamsAlive(): void {
  for (const each of open) if (!each.writableNeedDrain) each.write(': keep-alive\n\n')
}
