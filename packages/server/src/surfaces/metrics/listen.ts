/** Serves metrics on a port of their own for the operator: no credential of a tenant reads the metrics. */
import { toUrlHost } from '@steward/base/url-host.ts'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

export type MetricsListener = { url: string; close(): Promise<void> }

export async function listenForMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    request.resume()
    const isKnown = request.url === '/metrics'
    if (!isKnown || request.method !== 'GET') {
      response.writeHead(isKnown ? 405 : 404, { 'content-type': 'text/plain' })
      return void response.end('GET /metrics\n')
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    )
  })
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  server.listen(port, host)
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${toUrlHost(host)}:${bound}/metrics`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
