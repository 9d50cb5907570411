/** Two connections as one. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type Passed = { bytesOut: number; bytesIn: number }

/**
 * Passes on what the upstream says at once, and what the client says from `open` on. An end on one side becomes an
 * end on the other; a failure, or no byte for `idleMs`, ends both. `ended` resolves when both are closed.
 */
export function pump(client: Socket, upstream: Duplex, idleMs: number) {
  const passed: Passed = { bytesOut: 0, bytesIn: 0 }
  const destroy = (): void => {
    client.destroy()
    upstream.destroy()
  }
  client.setTimeout(idleMs, destroy)
  client.on('error', destroy)
  upstream.on('error', destroy)
  const ended = Promise.all([closed(client, upstream), closed(upstream, client)]).then(() => passed)
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
  }
}

/** Of the other, only what is already on its way is waited for, and only when this one came to a good end. */
function closed(one: Duplex, other: Duplex): Promise<void> {
  const settle = (): void => {
    if (!(one.writableFinished && one.readableEnded && other.writableEnded)) other.destroy()
  }
  if (one.closed) {
    settle()
    return Promise.resolve()
  }
  return new Promise((resolve) => {
    one.once('close', () => {
      settle()
      resolve()
    })
  })
}
