/** The number of connections of callers is bounded, so that they never take the last files of the process. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createObservation } from '@steward/base/observation.ts'

/** A connection was ended because there was one too many. `isNew`: it was the new one, as all others had a credential. */
export const connectionRefused = createObservation<{ isNew: boolean }>('connection-refused')

/** Connections on which a request had a valid credential. */
const admitted = new WeakSet<Socket>()

/** Call when a request of the connection had a valid credential. */
export const admitConnection = (socket: Socket): void => void admitted.add(socket)

/**
 * One connection too many ends another: the oldest without a credential and without a request, else the oldest without
 * a credential. When all others have one, the new connection ends. Attack: connections that say nothing cost their
 * owner nothing, and would otherwise keep out every caller with a key.
 */
export function boundConnections(server: Server, most: number): void {
  /** Connections without a credential, the oldest first, with the number of their open requests. */
  const strangers = new Map<Socket, number>()
  const open = new Set<Socket>()

  function oldestStranger(): Socket | undefined {
    let busy: Socket | undefined
    for (const [socket, requests] of strangers) {
      if (admitted.has(socket)) strangers.delete(socket)
      else if (requests === 0) return socket
      else busy ??= socket
    }
    return busy
  }

  function end(socket: Socket): void {
    // Its file is free at once; its `close` comes later.
    socket.destroy()
    forget(socket)
  }

  function forget(socket: Socket): void {
    open.delete(socket)
    strangers.delete(socket)
  }

  server.on('connection', (socket: Socket) => {
    const ended = open.size >= most ? (oldestStranger() ?? socket) : undefined
    if (ended) {
      connectionRefused.tell({ isNew: ended === socket })
      end(ended)
    }
    if (ended === socket) return
    open.add(socket)
    strangers.set(socket, 0)
    socket.once('close', () => forget(socket))
  })
  server.on('request', ({ socket }, outgoing) => {
    const count = (by: number) => {
      const requests = strangers.get(socket)
      if (requests !== undefined) strangers.set(socket, requests + by)
    }
    count(1)
    outgoing.once('close', () => count(-1))
  })
}
