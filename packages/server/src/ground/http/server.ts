import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import type { Clock } from '@steward/base/time.ts'
import type { mountRoutes } from './mount-routes.ts'
import { asksToSwitch, handleUpgrades } from './protocol-switch.ts'

/** How long a caller may take, in milliseconds. None of them ends a stream, whose comments count as traffic. */
export const serverTimeouts = {
  /** For the headers, and for the whole request: an upload within an hour. Other bodies have less, see body.ts. */
  headersTimeout: 30_000,
  requestTimeout: 3_600_000,
  /** A connection on which nothing moves either way while a request is open on it, or its answer is read. */
  timeout: 120_000,
  /** Between two requests. */
  keepAliveTimeout: 75_000,
  /** How often the first two are looked at. */
  connectionsCheckingInterval: 5_000,
}

/** Listens and resolves with the port, which is a free one when 0 was asked for. */
export function listen(
  app: ReturnType<typeof mountRoutes>,
  { host, port }: { host: string; port: number },
  limits: typeof serverTimeouts = serverTimeouts,
): Promise<{ server: Server; port: number }> {
  const { timeout, ...times } = limits
  const serverOptions = { ...times, shouldUpgradeCallback: asksToSwitch }
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server
  server.timeout = timeout
  handleUpgrades(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address ? address.port : port })
    })
  })
}

/** Stops listening at once; what it returns ends connections as they come to rest, and the last ones after the time. */
export function stopListening(server: Server, clock: Clock): (ms: number) => Promise<void> {
  const closed = new AbortController()
  server.close(() => closed.abort())
  return async (ms) => {
    const rest = setInterval(() => server.closeIdleConnections(), 10)
    await clock.sleep(ms, closed.signal)
    clearInterval(rest)
    server.closeAllConnections()
  }
}
