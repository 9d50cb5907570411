/** For tests: a proxy that takes CONNECT alone, as those of companies do. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'

export type ConnectProxy = AsyncDisposable & {
  url: string
  port: number
  /** The targets that were asked for, `host:port`. */
  asked: string[]
}

/** `targets`: local ports by `host:port`, which no resolver knows. With `credentials`, others are refused. `server`: one that listens, with TLS or not. */
export async function connectProxy(
  targets: Readonly<Record<string, number>>,
  { credentials, server = createServer() }: { credentials?: string; server?: Server } = {},
): Promise<ConnectProxy> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  server.on('connect', (request, client: Socket, head: Buffer) => {
    sockets.add(client.on('error', () => {}))
    const refuse = (status: string) => client.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)
    if (wanted && request.headers['proxy-authorization'] !== wanted)
      return refuse('407 Proxy Authentication Required')
    asked.push(request.url ?? '')
    const port = targets[request.url ?? '']
    if (port === undefined) return refuse('502 Bad Gateway')
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    sockets.add(upstream.on('error', () => client.destroy()))
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
  })
  const isOwn = !server.listening
  if (isOwn) await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const user = credentials === undefined ? '' : `${credentials}@`
  return {
    url: `http://${user}127.0.0.1:${port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      if (isOwn) await once(server.close(), 'close')
    },
  }
}
