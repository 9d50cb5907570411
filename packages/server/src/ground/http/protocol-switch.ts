/** Requests to go on in another protocol: they are routes as all others, whose answer may be the connection. */
import type { IncomingMessage, Server } from 'node:http'
import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../core/errors.ts'

/** One that this service speaks; any other stays an offer that is declined. */
export type SwitchProtocol = 'steward-egress'
const known: ReadonlySet<string> = new Set<SwitchProtocol>(['steward-egress'])

const wanted = ({ headers }: IncomingMessage): string => headers.upgrade?.toLowerCase() ?? ''

const asked = new WeakSet<IncomingMessage>()

export const asksToSwitch = (incoming: IncomingMessage): boolean =>
  incoming.method === 'GET' && known.has(wanted(incoming))

function late(this: Socket): void {
  this.destroy()
}

/** Refusals are answers like any, and the last ones on their connection. */
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
      // The answer to an earlier request is still owed on it.
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

/** Throws for a caller that did not ask. */
export function switchProtocol(
  protocol: SwitchProtocol,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  take: (connection: Socket) => void,
): void {
  if (!asked.has(incoming) || wanted(incoming) !== protocol)
    throw invalid(`this is for connections that go on as ${protocol}: send Upgrade: ${protocol}`)
  const { socket } = incoming
  // Its end was told already: who takes it would wait for that.
  if (socket.destroyed) return
  outgoing.detachSocket(socket)
  socket.off('timeout', late).setTimeout(0)
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
  )
  take(socket)
}
