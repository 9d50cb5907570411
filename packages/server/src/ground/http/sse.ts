/** Server-sent events, written raw to the node response: the one place that does. [stream/frame] */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@steward/base/time.ts'
import type { StreamPlace } from './streams.ts'
import type { TextPieces } from './write-body.ts'
import { writeTexts } from './write-body.ts'

const keepAliveMs = 15_000
const open = new Set<ServerResponse>()
let beating: NodeJS.Timeout | undefined

/** Clients drop messages without an `event:` line; `message` is known to every version of the official one. */
export const sseFrame = (data: string, seq?: number): string =>
  seq === undefined
    ? `event: message\ndata: ${data}\n\n`
    : `event: message\nid: ${seq}\ndata: ${data}\n\n`

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/**
 * Sends headers at once, then each frame as it comes; a slow reader makes this wait, and nobody else. Gives its place back
 * when the stream is over. Rejects when the frames do, and leaves it to the caller to break the response off.
 */
export async function writeStream(
  response: ServerResponse,
  frames: TextPieces,
  { headers, clock, place }: { headers: Record<string, string>; clock: Clock; place: StreamPlace },
): Promise<void> {
  try {
    response.once('close', () => place.end())
    if (response.destroyed) place.end()
    // Asked for before the headers go out, so that it listens to whatever the reader does next.
    const texts = frames(place.signal)
    response.socket?.setNoDelay(true).setTimeout(0)
    response.writeHead(200, { ...headers, ...streamHeaders })
    forget(response.req)
    response.write(': open\n\n')
    keepAlive(response)
    await writeTexts(response, texts, { ends: place.signal, clock })
  } finally {
    open.delete(response)
    place.leave()
  }
}

/** What a request said is not needed any more, and would be held for hours. */
function forget(request: IncomingMessage): void {
  request.headers = {}
  request.rawHeaders = []
}

/** One timer for all streams: proxies and clients give up on a silent body. */
function keepAlive(response: ServerResponse): void {
  open.add(response)
  beating ??= setInterval(() => {
    keepStreamsAlive()
    if (open.size > 0) return
    clearInterval(beating)
    beating = undefined
  }, keepAliveMs).unref()
}

/** A comment to every open stream that is not behind already. */
export function keepStreamsAlive(): void {
  for (const each of open) if (!each.writableNeedDrain) each.write(': keep-alive\n\n')
}
