/** Server-sent events, written raw to the node response: the one place that does. contract.md 2.1 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Whole frames of text, or a value that ends the stream when it returns. */
export type Frames = (signal: AbortSignal) => AsyncIterable<string>

const keepAliveMs = 15_000
const open = new Set<ServerResponse>()
let beating: NodeJS.Timeout | undefined

/** Clients drop messages without an `event:` line; `message` is known to every version of the official one. */
export const frame = (data: string, seq?: number): string =>
  seq === undefined
    ? `event: message\ndata: ${data}\n\n`
    : `event: message\nid: ${seq}\ndata: ${data}\n\n`

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/**
 * Sends headers at once, then each frame as it comes; a slow reader makes this wait, and nobody else. Rejects when
 * the frames do, and leaves it to the caller to break the response off.
 */
export async function writeStream(
  response: ServerResponse,
  frames: Frames,
  headers: Record<string, string>,
): Promise<void> {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  else response.once('close', () => gone.abort())
  // Asked for before the headers go out, so that it listens to whatever the reader does next.
  const texts = frames(gone.signal)
  response.socket?.setNoDelay(true)
  response.writeHead(200, { ...headers, ...streamHeaders })
  response.write(': open\n\n')
  keepAlive(response)
  try {
    for await (const text of texts) {
      if (gone.signal.aborted) break
      if (!response.write(text)) await once(response, 'drain', { signal: gone.signal })
    }
  } catch (error) {
    // Waiting for `drain` ends with the reader; anything else is a bug that the caller's log must see.
    if (!gone.signal.aborted) throw error
  } finally {
    open.delete(response)
  }
  response.end()
}

/** One timer for all streams: proxies and clients give up on a silent body. */
function keepAlive(response: ServerResponse): void {
  open.add(response)
  beating ??= setInterval(() => {
    beat()
    if (open.size > 0) return
    clearInterval(beating)
    beating = undefined
  }, keepAliveMs).unref()
}

/** A comment to every open stream that is not behind already. */
export function beat(): void {
  for (const each of open) if (!each.writableNeedDrain) each.write(': keep-alive\n\n')
}
