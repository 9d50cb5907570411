/** Two connections as one. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type PassedBytes = { bytesOut: number; bytesIn: number }

/**
 * Passes on what the upstream says at once, and what the client says from `open` on. An end on one side becomes an
 * end on the other; a failure, or no byte for `idleMs`, ends both. `ended` resolves when both are closed.
 */
export function pump(client: Socket, upstream: Duplex, idleMs: number) {
  const passed: PassedBytes = { bytesOut: 0, bytesIn: 0 }
  const destroy = (): void => {
    client.destroy()
    upstream.destroy()
  }
  client.setTimeout(idleMs, destroy)
  client.on('error', destroy)
  upstream.on('error', destroy)
  let isCut = false
  // Of the other, only what is already on its way is waited for, and only when this one came to a good end.
  const settle = (one: Duplex, other: Duplex): void => {
    const isGood = one.writableFinished && one.readableEnded && other.writableEnded
    if (isCut) return
    // What nobody takes any more must be read, or its end is never seen.
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
    /** Ends the upstream, and leaves the client to whoever has a last word for it. */
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
