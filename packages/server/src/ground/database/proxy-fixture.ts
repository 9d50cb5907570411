/** For tests: a TCP proxy before Postgres whose packets can vanish, as behind a firewall that drops them. */
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'

export type PostgresProxy = AsyncDisposable & {
  /** The database through the proxy. */
  url: string
  /** From now on no byte is forwarded on any connection, and neither side is told. */
  vanish(): void
  /** Forwards bytes again, also on connections that were already open. */
  resume(): void
  /** Ends every connection with a reset. */
  cut(): void
  /** Like `cut`, and resets new connections too until `resume`. */
  refuse(): void
}

export async function postgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target)
  const [host, number] = [decodeURIComponent(hostname), Number(port || 5432)]
  /** A host that is a path names the folder of the server's socket. */
  const setup = host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.${number}` }
    : { host, port: number }
  const sockets = new Set<Socket>()
  /** Sockets of clients. The server's sockets may be unix sockets, which cannot be reset and end with their clients. */
  const clients = new Set<Socket>()
  let forwards = true
  let refuses = false
  const cut = () => {
    for (const socket of clients) socket.resetAndDestroy()
  }
  const server = createServer((near) => {
    if (refuses) return void near.resetAndDestroy()
    const far = connect(setup)
    clients.add(near)
    near.once('close', () => clients.delete(near))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('data', (bytes) => to.write(bytes))
      // A reset is what the test wants.
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (!forwards) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = new URL(target)
  url.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return {
    url: url.href,
    vanish() {
      forwards = false
      for (const socket of sockets) socket.pause()
    },
    resume() {
      forwards = true
      refuses = false
      for (const socket of sockets) socket.resume()
    },
    cut,
    refuse() {
      refuses = true
      cut()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
