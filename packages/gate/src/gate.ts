/** The gate of one session: an HTTP proxy, usually on a unix socket. It holds no rules and no secrets. */
import { chmod, lchown, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { socketPath } from '@steward/base/socket-path.ts'
import type { Authority } from './authority.ts'
import { connectHandler } from './connect.ts'
import type { OpenedTunnel } from './heads.ts'
import type { GateOwner } from './outbound.ts'
import { createObjectionReporter } from './objections.ts'
import { requestHandler } from './requests.ts'
import { invalidAnswer, endWithAnswer } from './gate-answers.ts'
import { asksToSwitch, createUpgradeHandler } from './upgrades.ts'

export type GateLimits = {
  /** Connections at the same time. Further ones are closed at once. */
  connections: number
  /** Requests at the same time, on all connections together. */
  requests: number
  /** Size of one request's headers. */
  headerBytes: number
  /** Time for a request's headers, from the first byte. */
  headersMs: number
  /** Time for a client's first message in a tunnel. */
  helloMs: number
  /** Idle time between two requests. */
  keepAliveMs: number
  /** Idle time of a tunnel or a request, in both directions. Longer than the owner's wait for an answer. */
  idleMs: number
}

export const gateLimits: GateLimits = {
  connections: 512,
  requests: 1024,
  headerBytes: 64 * 1024,
  headersMs: 20_000,
  helloMs: 10_000,
  keepAliveMs: 60_000,
  idleMs: 15 * 60_000,
}

export interface Gate {
  /** Ends every connection at once and removes the socket. */
  close(): Promise<void>
}

/** A gate without a socket of its own. */
export interface SocketlessGate extends Gate {
  /** Serves a client's connection. The caller limits the number of connections. */
  take(connection: Socket): void
}

export type GateOptions = {
  authority: Authority
  owner: GateOwner
  limits?: Partial<GateLimits>
  /**
   * Called for each client connection. Returns a function to call when the connection has closed, or undefined to close
   * the connection at once.
   */
  admit?: () => (() => void) | undefined
}

export type SocketOptions = {
  /** The path of the socket, of any length. A socket that a dead process left there is replaced. */
  path: string
  mode?: number
  uid?: number
}

/** Rejects when the socket cannot be created. */
export async function openGate(options: GateOptions & SocketOptions): Promise<Gate> {
  const { path, mode = 0o600, uid } = options
  const { server, close } = gateServer(options)
  await rm(path, { force: true })
  const named = socketPath(path)
  // The end of a server removes its socket by the name that it listened on.
  const end = () => close().finally(() => named.forget())
  try {
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject)
      server.listen(named.path, resolve)
    })
    await chmod(path, mode)
    if (uid !== undefined) await lchown(path, uid, uid)
  } catch (error) {
    await end()
    throw error
  }
  return { close: end }
}

export function socketlessGate(options: GateOptions): SocketlessGate {
  const { server, close } = gateServer(options)
  // Starts Node's timers for requests, which begin with the `listening` event.
  server.emit('listening')
  return {
    take: (connection) => void server.emit('connection', connection),
    close,
  }
}

function gateServer({ authority, owner, limits: own, admit = () => () => {} }: GateOptions) {
  const limits = { ...gateLimits, ...own }
  const inside = new WeakMap<Socket, OpenedTunnel>()
  const sockets = new Set<Socket>()
  const room = { owner, objections: createObjectionReporter(owner), inside, limits }
  const underWay = new WeakMap<Socket, number>()
  const isBusy = (socket: Socket): boolean => (underWay.get(socket) ?? 0) > 0
  const request = requestHandler({ ...room, underWay })
  const upgrade = createUpgradeHandler(room)
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.max(Math.ceil(limits.headersMs / 4), 20),
    requireHostHeader: false,
    shouldUpgradeCallback: asksToSwitch,
  })
  // Node would drop headers above its default limit without an error.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connections
  // While a connection is not read, because its owner reads nothing, only this timeout notices that the client has
  // gone.
  server.timeout = limits.idleMs
  const connect = connectHandler({
    ...room,
    authority,
    serve(socket, at) {
      inside.set(socket, at)
      server.emit('connection', socket)
    },
  })

  server.on('connection', (socket: Socket) => {
    if (sockets.has(socket)) return
    // A connection inside a tunnel belongs to a connection that was admitted.
    const left = inside.has(socket) ? () => {} : admit()
    if (!left) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      left()
    })
  })
  server.on('request', (message, response) => void request(message, response, false))
  server.on('checkContinue', (message, response) => void request(message, response, true))
  server.on('upgrade', (message, _socket, head) => {
    if (isBusy(message.socket)) message.socket.destroy()
    else void upgrade(message, head)
  })
  server.on('connect', (message, _socket, head) => {
    if (isBusy(message.socket)) return void message.socket.destroy()
    if (!inside.has(message.socket)) return void connect(message, head)
    message.socket.on('error', () => message.socket.destroy())
    endWithAnswer(message.socket, invalidAnswer('there is no CONNECT within a tunnel'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (isBusy(socket as Socket)) socket.destroy()
    else unreadable(error, socket as Socket)
  })

  return {
    server,
    close: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function unreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const { code = '' } = error
  if (code === 'HPE_HEADER_OVERFLOW') {
    endWithAnswer(socket, invalidAnswer('the headers of the request are too large', 431))
  } else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    endWithAnswer(socket, invalidAnswer('the request did not come in time', 408))
  } else if (code.startsWith('HPE_')) {
    endWithAnswer(socket, invalidAnswer('this is not a request of HTTP/1.1'))
  } else socket.destroy()
}
