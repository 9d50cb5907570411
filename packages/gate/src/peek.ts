import type { Socket } from 'node:net'
import type { FirstBytes } from './client-hello.ts'
import { readFirstBytes } from './client-hello.ts'

/** `late`: too few bytes came in time. `gone`: the client disconnected before. */
export type PeekResult = Exclude<FirstBytes, { kind: 'more' }> | { kind: 'late' } | { kind: 'gone' }

/**
 * Reads a client's first message and leaves it in the socket. `head`: bytes that were read already. `firstMs`: time for
 * the first byte. `restMs`: time for the rest of a TLS message.
 */
export function peekMessage(
  socket: Socket,
  head: Buffer,
  { firstMs, restMs }: { firstMs: number; restMs: number },
): Promise<PeekResult> {
  return new Promise((resolve) => {
    let bytes = head
    let timer = setTimeout(() => settle({ kind: 'late' }), head.length > 0 ? restMs : firstMs)
    const settle = (peeked: PeekResult): void => {
      clearTimeout(timer)
      socket.off('readable', look)
      socket.off('end', leave)
      socket.off('close', leave)
      if (bytes.length > 0 && !socket.readableEnded) socket.unshift(bytes)
      resolve(peeked)
    }
    const leave = (): void => settle({ kind: 'gone' })
    const look = (): void => {
      const wasEmpty = bytes.length === 0
      for (let chunk: Buffer | null; (chunk = socket.read()) !== null;) {
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      }
      const read = readFirstBytes(bytes)
      if (read.kind !== 'more') return settle(read)
      if (!wasEmpty || bytes.length === 0) return
      clearTimeout(timer)
      timer = setTimeout(() => settle({ kind: 'late' }), restMs)
    }
    if (socket.destroyed) return leave()
    socket.once('end', leave)
    socket.once('close', leave)
    const read = readFirstBytes(bytes)
    if (read.kind !== 'more') return settle(read)
    socket.on('readable', look)
    if (socket.readableLength > 0) look()
  })
}
