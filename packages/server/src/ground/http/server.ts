import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Clock } from '@steward/base/time.ts'
import { boundConnections } from './connections.ts'
import type { mountRoutes } from './mount-routes.ts'
import { asksToSwitch, handleUpgrades } from './protocol-switch.ts'
import { answerUnreadable, answerWithoutRoute } from './bodies/unreadable.ts'

/** Time limits of callers, in milliseconds. None ends a stream, because its comments count as traffic. */
export const serverTimeouts = {
  /** Limits of the headers, and of the whole request, which may be an upload. body.ts limits other bodies. */
  headersTimeout: 30_000,
  requestTimeout: 3_600_000,
  /** Limit of a connection with an open request and no traffic in either direction. */
  timeout: 120_000,
  /** Limit of the pause between two requests. */
  keepAliveTimeout: 75_000,
  /** Interval of the checks of the first two limits. */
  connectionsCheckingInterval: 5_000,
}

/** Listens. Resolves with the port: a free one for port 0. `callerConnections`: the most at once. */
export function startHttpServer(
  app: ReturnType<typeof mountRoutes>,
  { host, port, callerConnections }: { host: string; port: number; callerConnections: number },
  limits: typeof serverTimeouts = serverTimeouts,
): Promise<{ server: Server; port: number }> {
  const { timeout, ...times } = limits
  // Node's own answer to a request without a host has no body; the adapter refuses it too.
  const options = { ...times, shouldUpgradeCallback: asksToSwitch, requireHostHeader: false }
  const serve = getRequestListener(app.fetch, { errorHandler: answerWithoutRoute })
  const server = createServer(options, (incoming, outgoing) => void serve(incoming, outgoing))
  server.timeout = timeout
  boundConnections(server, callerConnections)
  handleUpgrades(server)
  answerUnreadable(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address ? address.port : port })
    })
  })
}

/** Stops listening at once. The returned function closes idle connections, and all others after `ms`. */
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
