/** Connects two connections. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type PassedBytes = { bytesOut: number; bytesIn: number }

/**
 * Passes on bytes of the upstream at once, and bytes of the client after `open`. An end of one side ends the other. A
 * failure, or no byte for `idleMs`, ends both. `ended` resolves when both are closed.
 */
export function pumpBytes(client: Socket, upstream: Duplex, idleMs: number) {
  const passed: PassedBytes = { bytesOut: 0, bytesIn: 0 }
  const destroy = (): void => {
    client.destroy()
    upstream.destroy()
  }
  client.setTimeout(idleMs, destroy)
  client.on('error', destroy)
  upstream.on('error', destroy)
  let isCut = false
  // After a clean end of one side, waits for bytes of the other that are on their way; otherwise ends the other at
  // once.
  const settle = (one: Duplex, other: Duplex): void => {
    const isGood = one.writableFinished && one.readableEnded && other.writableEnded
    if (isCut) return
    // Unread bytes must be read, otherwise the end is never noticed.
    if (isGood) other.resume()
    else other.destroy()
  }
  const ended = Promise.all([
    closed(client).then(() => settle(client, upstream)),
    closed(upstream).then(() => settle(upstream, client)),
  ]).then(() => passed)
  upstream.on('data', (chunk: Buffer) => {
    passed.bytesIn += chunk.length
  })
  upstream.pipe(client)
  return {
    ended,
    open(): void {
      client.on('data', (chunk: Buffer) => {
        passed.bytesOut += chunk.length
      })
      client.pipe(upstream)
    },
    /** Ends the upstream. The client stays open for a last message. */
    cut(): void {
      isCut = true
      upstream.unpipe(client)
      upstream.destroy()
    },
  }
}

const closed = (stream: Duplex): Promise<void> =>
  stream.closed
    ? Promise.resolve()
    : new Promise((resolve) => {
        stream.once('close', resolve)
      })
