import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import type { mount } from './mount.ts'

/** Listens and resolves with the port, which is a free one when 0 was asked for. */
export function listen(
  app: ReturnType<typeof mount>,
  { host, port }: { host: string; port: number },
): Promise<{ server: Server; port: number }> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  // A stream may be silent for long, and a body of many megabytes may come slowly; headers may not.
  server.requestTimeout = 0
  server.headersTimeout = 30_000
  server.keepAliveTimeout = 75_000
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address ? address.port : port })
    })
  })
}
