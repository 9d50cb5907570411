/** A sandbox's only way out: a proxy at a unix socket that leads to the service, and nowhere else. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import type { SandboxEgress } from '@steward/sandbox/sandbox.ts'

/** The service, as sandboxes call it; whatever its URL, scheme and port are outside. */
export const insideUrl = 'http://steward.internal'
const { host: name } = new URL(insideUrl)

export type Door = { egress: SandboxEgress; close(): Promise<void> }

export async function openDoor(baseUrl: string): Promise<Door> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-door-'))
  const [socket, certificates] = [join(folder, 'socket'), join(folder, 'authorities.pem')]
  await writeFile(certificates, rootCertificates.join('\n'))
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
  proxy.listen(socket)
  await once(proxy, 'listening')
  return {
    egress: { socket, certificates },
    async close() {
      for (const server of [inner, proxy]) server.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
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
    const onward = ask(new URL(prefix + url, base), {
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
