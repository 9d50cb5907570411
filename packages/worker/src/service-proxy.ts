/**
 * The egress of an official worker's sandbox: a proxy on a unix socket that leads to the service, and to `beyond` if
 * there is one.
 */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Server as NetServer, Socket } from 'node:net'
import { connect, createServer as createNetServer } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { pumpBytes } from '@steward/gate/pump.ts'
import type { SandboxEgress } from '@steward/sandbox/sandbox.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The service's URL inside sandboxes, whatever its URL, scheme and port are outside. */
export const insideUrl = 'http://steward.internal'
const { host: name } = new URL(insideUrl)

/** Time limits for a client's first line, and for a connection without traffic. */
const [firstLineMs, idleMs] = [20_000, 16 * 60_000]

/** Connections of one sandbox at the same time. */
const mostConnections = 256

export type ServiceProxy = { egress: SandboxEgress; close(): Promise<void> }

/** `beyond`: the egress for all connections that are not for the service. */
export async function openServiceProxy(
  baseUrl: string,
  beyond?: SandboxEgress,
): Promise<ServiceProxy> {
  const folder = await temporaryFolder('door')
  const [socket, own] = [join(folder.path, 'socket'), join(folder.path, 'authorities.pem')]
  if (!beyond) await writeFile(own, rootCertificates.join('\n'))
  const answer = forward(baseUrl)
  const inner = createServer(answer)
  const proxy = createServer((request, response) => {
    const { url = '' } = request
    if (!url.startsWith(`${insideUrl}/`)) return refuse(response)
    request.url = url.slice(insideUrl.length)
    answer(request, response)
  })
  for (const server of [inner, proxy]) server.requestTimeout = 0
  proxy.on('connect', (request, connection, head) => {
    connection.on('error', () => {})
    if (request.url !== `${name}:80`) {
      connection.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    connection.write('HTTP/1.1 200 OK\r\n\r\n')
    if (head.length > 0) connection.unshift(head)
    inner.emit('connection', connection)
  })
  const open = new Set<Socket>()
  const front = beyond ? parting(proxy, beyond.socket) : proxy
  front.on('connection', (connection: Socket) => {
    open.add(connection)
    connection.once('close', () => open.delete(connection))
  })
  front.maxConnections = mostConnections
  front.listen(socket)
  await once(front, 'listening')
  return {
    egress: { socket, certificates: beyond?.certificates ?? own },
    async close() {
      for (const each of open) each.destroy()
      await new Promise((resolve) => front.close(resolve))
      await folder.remove()
    },
  }
}

const longestLine = 8_192
const ours = new RegExp(`^(CONNECT ${name}:80 |[A-Z]+ ${insideUrl}/)`)

/** Splits connections by their first line: to the proxy, or to `beyond`. */
function parting(proxy: Server, beyond: string): NetServer {
  return createNetServer({ allowHalfOpen: true }, (connection) => {
    let seen = Buffer.alloc(0)
    connection.on('error', () => connection.destroy())
    connection.setTimeout(firstLineMs, () => connection.destroy())
    connection.on('data', function look(piece: Buffer) {
      seen = Buffer.concat([seen, piece])
      if (!seen.includes('\n') && seen.length < longestLine) return
      connection.off('data', look).pause().setTimeout(0)
      connection.removeAllListeners('timeout')
      connection.unshift(seen)
      if (ours.test(seen.toString('latin1', 0, longestLine))) {
        proxy.emit('connection', connection)
        connection.resume()
      } else pumpBytes(connection, connect({ path: beyond, allowHalfOpen: true }), idleMs).open()
    })
  })
}

const refuse = (response: ServerResponse): void => {
  response.writeHead(403).end('only the service is reached from here\n')
}

function forward(baseUrl: string) {
  const base = new URL(baseUrl)
  const ask = base.protocol === 'https:' ? secureRequest : plainRequest
  const prefix = base.pathname.replace(/\/$/, '')
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url = '/', headers } = request
    if (!url.startsWith('/')) return refuse(response)
    // Uses path and query only: a host in them must not lead elsewhere.
    const { pathname, search } = new URL(insideUrl + url)
    const onward = ask(Object.assign(new URL(base), { pathname: prefix + pathname, search }), {
      method,
      headers: { ...headers, host: base.host },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    onward.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end('the service was not reached\n')
    })
    response.on('close', () => onward.destroy())
    request.on('error', () => onward.destroy()).pipe(onward)
  }
}
