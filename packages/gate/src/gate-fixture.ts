/** For tests: a gate on a real socket, an upstream for every name with and without TLS, and clients. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer as createPlain } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { connect as connectTls } from 'node:tls'
import { Agent, buildConnector, upgrade } from 'undici'
import type { Authority } from './authority.ts'
import { certificateAuthority } from './authority.ts'
import type { GateLimits, GateOptions } from './gate.ts'
import { openGate } from './gate.ts'
import type {
  OutboundAnswer,
  GateOwner,
  HeaderPairs,
  Outbound,
  GateRefusal,
  UpgradedConnection,
  GateTarget,
  ConnectionVerdict,
} from './outbound.ts'

export type UpgradeListener = (socket: Duplex, head: Buffer, path: string) => void

export type GateWorld = Awaited<ReturnType<typeof openTestGate>>

export async function listenOnFreePort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** An upstream that serves every name. */
export async function startUpstream(listener: RequestListener, upgraded?: UpgradeListener) {
  const authority = certificateAuthority()
  const secure = createSecure(
    {
      SNICallback: (name, done) => done(null, authority.contextFor(name)),
      ALPNProtocols: ['http/1.1'],
    },
    listener,
  )
  const plain = createPlain(listener)
  for (const server of [secure, plain]) {
    if (upgraded) {
      server.on('upgrade', (message, socket, head) => upgraded(socket, head, message.url ?? ''))
    }
  }
  const ports = { https: await listenOnFreePort(secure), http: await listenOnFreePort(plain) }
  return {
    pem: authority.pem,
    ports,
    close() {
      for (const server of [secure, plain]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** Forwards with undici, like a real owner, and records its calls. */
function ownerFor(upstream: Awaited<ReturnType<typeof startUpstream>>) {
  const connector = buildConnector({ ca: upstream.pem })
  const agent = new Agent({
    connect(options, done) {
      const isSecure = options.protocol === 'https:'
      const port = String(isSecure ? upstream.ports.https : upstream.ports.http)
      const servername = isSecure ? options.hostname : ''
      connector({ ...options, hostname: '127.0.0.1', host: '127.0.0.1', port, servername }, done)
    },
  })
  const refusals: GateRefusal[] = []
  const tunnels: (GateTarget & { ms: number; bytesOut: number; bytesIn: number })[] = []
  const requests: Outbound[] = []
  const pairs = (flat: string[]): HeaderPairs =>
    flat.flatMap((name, i) =>
      i % 2 === 0 ? [[name, flat[i + 1] ?? ''] satisfies HeaderPairs[0]] : [],
    )

  const owner: GateOwner = {
    judge: () => Promise.resolve<ConnectionVerdict>({ kind: 'read' }),
    async forward(request): Promise<OutboundAnswer> {
      requests.push(request)
      const { method, url, headers, body, signal } = request
      const answer = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: method as 'GET',
        headers: headers.flat(),
        body,
        signal,
        responseHeaders: 'raw',
      })
      const flat = answer.headers as unknown
      return { status: answer.statusCode, headers: pairs(flat as string[]), body: answer.body }
    },
    async upgrade(request): Promise<OutboundAnswer | UpgradedConnection> {
      requests.push(request)
      const { url, headers } = request
      const protocol = headers.find(([name]) => name.toLowerCase() === 'upgrade')?.[1] ?? ''
      const sent = headers.filter(([name]) => name.toLowerCase() !== 'upgrade')
      const { socket, headers: answered } = await upgrade(url, {
        dispatcher: agent,
        headers: sent.flat(),
        protocol,
        responseHeaders: 'raw',
      })
      const flat = answered as unknown
      return { status: 101, headers: pairs(flat as string[]), socket, head: Buffer.alloc(0) }
    },
    async dial({ port }) {
      const at = port === 80 ? upstream.ports.http : upstream.ports.https
      const socket = connect({ host: '127.0.0.1', port: at, allowHalfOpen: true })
      await once(socket, 'connect')
      return socket
    },
    refused: (refusal) => void refusals.push(refusal),
    tunnelled: (tunnel) => void tunnels.push(tunnel),
  }
  return { owner, refusals, tunnels, requests, close: () => agent.destroy() }
}

export async function openTestGate({
  listener = (_request, response) => void response.end('hello'),
  upgraded,
  limits,
  admit,
  ...over
}: {
  listener?: RequestListener
  upgraded?: UpgradeListener
  limits?: Partial<GateLimits>
  admit?: GateOptions['admit']
} & Partial<GateOwner> = {}) {
  const upstream = await startUpstream(listener, upgraded)
  const { owner, refusals, tunnels, requests, close } = ownerFor(upstream)
  const authority = certificateAuthority()
  const folder = mkdtempSync(join(tmpdir(), 'gate-'))
  const socketPath = join(folder, 'gate.sock')
  const gate = await openGate({
    path: socketPath,
    authority,
    owner: { ...owner, ...over },
    ...(limits ? { limits } : {}),
    ...(admit && { admit }),
  })
  return {
    owner,
    upstream,
    refusals,
    tunnels,
    requests,
    authority,
    folder,
    socketPath,
    gate,
    /** A TCP port of the gate, as programs see it. */
    async port() {
      const bridge = createServer({ allowHalfOpen: true }, (socket) => {
        const inner = connect({ path: socketPath, allowHalfOpen: true })
        socket.on('error', () => inner.destroy())
        inner.on('error', () => socket.destroy())
        socket.pipe(inner).pipe(socket)
      })
      return { port: await listenOnFreePort(bridge), close: () => void bridge.close() }
    },
    async [Symbol.asyncDispose]() {
      await gate.close()
      await close()
      upstream.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function dialGate(socketPath: string): Promise<Socket> {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  await once(socket, 'connect')
  socket.on('error', () => socket.destroy())
  return socket
}

/** Collects text until `enough` is true or the connection ends. */
export function collectUntil(socket: Duplex, enough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const settle = (): void => {
      socket.off('data', look)
      socket.off('end', settle)
      socket.off('close', settle)
      resolve(text)
    }
    const look = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      if (enough(text)) settle()
    }
    socket.on('data', look)
    socket.on('end', settle)
    socket.on('close', settle)
  })
}

export const toTheEnd = (socket: Duplex): Promise<string> => collectUntil(socket, () => false)

/** The gate's whole answer to these bytes. */
export async function answerTo(socketPath: string, bytes: string | Buffer): Promise<string> {
  const socket = await dialGate(socketPath)
  const answer = toTheEnd(socket)
  socket.write(bytes)
  return answer
}

/** A connection whose tunnel is open. */
export async function openTestTunnel(socketPath: string, authority: string): Promise<Socket> {
  const socket = await dialGate(socketPath)
  const answer = collectUntil(socket, (text) => text.includes('\r\n\r\n'))
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const text = await answer
  if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(text)
  return socket
}

/** A TLS connection to a host through the gate. */
export async function openTls(
  {
    socketPath,
    authority,
    upstream,
  }: { socketPath: string; authority: Authority; upstream: { pem: string } },
  host: string,
  { port = 443, ...options }: { port?: number } & ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = await openTestTunnel(socketPath, `${host}:${port}`)
  const secure = connectTls({
    socket,
    servername: host,
    ca: [authority.pem, upstream.pem],
    ALPNProtocols: ['http/1.1'],
    ...options,
  })
  try {
    await once(secure, 'secureConnect')
  } catch (error) {
    socket.destroy()
    throw error
  }
  secure.on('error', () => secure.destroy())
  return secure
}

/** Sends one request on an open connection. Returns the head and the body, whose length must be announced. */
export async function askOver(socket: Duplex, request: string): Promise<string> {
  const answer = collectUntil(socket, (text) => {
    const end = text.indexOf('\r\n\r\n')
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    return end > 0 && text.length >= end + 4 + Number(length ?? 0)
  })
  socket.write(request)
  return answer
}

/** Resolves when the condition is true. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
