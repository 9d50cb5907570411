/** Upgrade requests: routes serve them like others, and the answer may be the connection itself. */
import type { IncomingMessage, Server } from 'node:http'
import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../core/errors.ts'

/** A protocol that this service speaks. Offers of others are declined. */
export type SwitchProtocol = 'steward-egress'
const known: ReadonlySet<string> = new Set<SwitchProtocol>(['steward-egress'])

const wanted = ({ headers }: IncomingMessage): string => headers.upgrade?.toLowerCase() ?? ''

const asked = new WeakSet<IncomingMessage>()

export const asksToSwitch = (incoming: IncomingMessage): boolean =>
  incoming.method === 'GET' && known.has(wanted(incoming))

function late(this: Socket): void {
  this.destroy()
}

/** Serves upgrade requests like other requests. A refusal is the last answer on its connection. */
export function handleUpgrades(server: Server): void {
  server.on('upgrade', (incoming: IncomingMessage, _stream, head: Buffer) => {
    const { socket } = incoming
    asked.add(incoming)
    socket.on('error', () => socket.destroy())
    if (head.length > 0) socket.unshift(head)
    const outgoing = new ServerResponse(incoming)
    outgoing.shouldKeepAlive = false
    try {
      outgoing.assignSocket(socket)
    } catch {
      // An earlier request on the connection has no answer yet.
      return void socket.destroy()
    }
    socket.on('timeout', late)
    outgoing.once('finish', () => {
      outgoing.detachSocket(socket)
      socket.destroySoon()
    })
    server.emit('request', incoming, outgoing)
  })
}

/** Switches the connection and passes it to `take`. Throws for a caller that did not request the protocol. */
export function switchProtocol(
  protocol: SwitchProtocol,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  take: (connection: Socket) => void,
): void {
  if (!asked.has(incoming) || wanted(incoming) !== protocol)
    throw invalid(`this is for connections that go on as ${protocol}: send Upgrade: ${protocol}`)
  const { socket } = incoming
  // The socket has already emitted its end, for which `take` would wait forever.
  if (socket.destroyed) return
  outgoing.detachSocket(socket)
  socket.off('timeout', late).setTimeout(0)
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
  )
  take(socket)
}
