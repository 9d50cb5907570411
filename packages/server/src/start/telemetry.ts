/** Observation for operators: metrics, traces, and a log line for each request. */
import { explainListenFailure } from '@steward/base/listening.ts'
import type { Log } from '@steward/base/log.ts'
import { serverProgram } from '../ground/config/settings.ts'
import type { Config } from '../ground/config/config.ts'
import { createProxies } from '../ground/core/security/proxies.ts'
import { requestAnswered } from '../ground/http/request-observations.ts'
import { listenForMetrics } from '../surfaces/metrics/listen.ts'
import { createMetrics } from '../surfaces/metrics/metrics.ts'
import type { Collector, Traces } from '../surfaces/traces/traces.ts'
import { createTraces, noTraces } from '../surfaces/traces/traces.ts'
import { logRefusedConnections } from './refused-connections.ts'
import type { Shares } from './shares.ts'
import type { Ground } from '../ground/ground.ts'

/** Without a setting that asks for metrics or traces, nothing is counted and no library is loaded. */
export async function openTelemetry(
  { metrics: { host, port }, traces: tracing, logLevel, outgoing }: Config,
  { log, bus, clock }: Ground,
  shares: Shares,
): Promise<Traces> {
  const logging = logLevel === 'debug' ? logRequests(log) : () => {}
  const warning = logRefusedConnections(log, clock)
  const metrics = port === undefined ? undefined : await openMetrics(shares, log, { host, port })
  const collector = collectorOf(tracing, outgoing)
  const traces = collector
    ? await createTraces({ log, bus }, { collector, sampling: tracing })
    : noTraces
  return {
    traceparentOf: traces.traceparentOf,
    async close() {
      logging()
      warning()
      await metrics?.close()
      await traces.close()
    },
  }
}

/** Undefined without a setting that asks for traces. */
export function collectorOf(
  { own, endpoint }: Config['traces'],
  outgoing: Config['outgoing'],
): Collector | undefined {
  const below = endpoint === undefined ? undefined : `${endpoint.replace(/\/$/, '')}/v1/traces`
  const url = own ?? below
  if (url === undefined) return undefined
  const { protocol, hostname: host, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const target = { host, port: Number(port) || (isSecure ? 443 : 80), isSecure }
  return { url, proxy: createProxies(outgoing).proxyOf(target) }
}

async function openMetrics(shares: Shares, log: Log, address: { host: string; port: number }) {
  const metrics = await createMetrics(shares, (error) =>
    log.error('work could not be counted', { error }),
  )
  const { name } = serverProgram.settings.metrics.port
  const listener = await explainListenFailure(name, listenForMetrics(metrics, address))
  log.info('metrics', { at: listener.url })
  return {
    async close() {
      await listener.close()
      metrics.close()
    },
  }
}

const logRequests = (log: Log) =>
  requestAnswered.listen(
    ({ requestId, tenant, keyId, isStream, ...request }) =>
      log.debug('a request was answered', {
        request_id: requestId,
        ...request,
        ms: Math.round(request.ms),
        ...(isStream && { is_stream: true }),
        workspace_id: tenant,
        key_id: keyId,
      }),
    (error) => log.error('a request could not be logged', { error }),
  )
