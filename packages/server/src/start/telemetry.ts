/** Observation for operators: metrics, traces, and a log line for each request. */
import { explainListenFailure } from '@steward/base/listening.ts'
import type { Log } from '@steward/base/log.ts'
import { serverProgram } from '../ground/config/settings.ts'
import type { Config } from '../ground/config/config.ts'
import { createProxies } from '../ground/core/security/proxies.ts'
import { requestAnswered } from '../ground/http/request-observations.ts'
import { listenForMetrics } from '../surfaces/metrics/listen.ts'
import type { Metrics } from '../surfaces/metrics/metrics.ts'
import { createMetrics } from '../surfaces/metrics/metrics.ts'
import { sendLogs } from '../surfaces/otlp/logs.ts'
import { sendMetrics } from '../surfaces/metrics/send.ts'
import type { Collector, Signal } from '../surfaces/otlp/collector.ts'
import type { Traces } from '../surfaces/traces/traces.ts'
import { createTraces, noTraces } from '../surfaces/traces/traces.ts'
import { logRefusedConnections } from './refused-connections.ts'
import type { Shares } from './shares.ts'
import type { Ground } from '../ground/ground.ts'

/** Without a setting that asks for them, nothing is counted or sent, and no library is loaded. */
export async function openTelemetry(
  config: Config,
  { log, bus, clock }: Ground,
  shares: Shares,
): Promise<Traces> {
  const { traces: sampling, logLevel } = config
  const logging = logLevel === 'debug' ? logRequests(log) : () => {}
  const warning = logRefusedConnections(log, clock)
  const to = collectorsOf(config)
  const logs = to.logs && (await sendLogs(log, to.logs))
  const metrics = await openMetrics(config, shares, { log, collector: to.metrics })
  const traces = to.traces
    ? await createTraces({ log, bus }, { collector: to.traces, sampling })
    : noTraces
  return {
    traceparentOf: traces.traceparentOf,
    async close() {
      logging()
      warning()
      await Promise.all([metrics.close(), traces.close()])
      await logs?.close()
    },
  }
}

/** The collector of each signal that the settings ask to send. */
export function collectorsOf({
  otlp,
  outgoing,
}: Pick<Config, 'otlp' | 'outgoing'>): Record<Signal, Collector | undefined> {
  const { proxyOf } = createProxies(outgoing)
  const collectorAt = (signal: Signal, own: string | undefined): Collector | undefined => {
    if (otlp[`${signal}Exporter`] === 'none') return undefined
    const below = otlp.endpoint && `${otlp.endpoint.replace(/\/$/, '')}/v1/${signal}`
    const url = own ?? below
    if (url === undefined) return undefined
    const { protocol, hostname: host, port } = new URL(url)
    const isSecure = protocol === 'https:'
    const target = { host, port: Number(port) || (isSecure ? 443 : 80), isSecure }
    return { url, proxy: proxyOf(target), headers: otlp.headers ?? {} }
  }
  return {
    traces: collectorAt('traces', otlp.tracesEndpoint),
    metrics: collectorAt('metrics', otlp.metricsEndpoint),
    logs: collectorAt('logs', otlp.logsEndpoint),
  }
}

const nothingOpen = { close: async () => {} }

/** Metrics are declared once, and read by Prometheus, sent to the collector, or both. */
async function openMetrics(
  { metrics: { host, port }, otlp }: Config,
  shares: Shares,
  { log, collector }: { log: Log; collector: Collector | undefined },
) {
  if (port === undefined && collector === undefined) return nothingOpen
  const metrics = await createMetrics(shares, (error) =>
    log.error('work could not be counted', { error }),
  )
  const sender = collector
    ? await sendMetrics(metrics, { log, collector, everyMs: otlp.metricsEveryMs })
    : nothingOpen
  const listener =
    port === undefined ? nothingOpen : await listenForPrometheus(metrics, log, { host, port })
  return {
    async close() {
      await Promise.all([listener.close(), sender.close()])
      metrics.close()
    },
  }
}

async function listenForPrometheus(
  metrics: Metrics,
  log: Log,
  address: { host: string; port: number },
) {
  const { name } = serverProgram.settings.metrics.port
  const listener = await explainListenFailure(name, listenForMetrics(metrics, address))
  log.info('metrics', { at: listener.url })
  return listener
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
