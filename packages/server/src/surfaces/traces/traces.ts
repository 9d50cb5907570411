/**
 * Traces for OpenTelemetry: requests, turns, and the model requests and tool calls within turns. No span holds a
 * message, or the input or result of a tool. [http/traces]
 */
import type { Log } from '@steward/base/log.ts'
import type { Channel } from '../../ground/bus/bus.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { ProxyUrl } from '../../ground/core/security/proxies.ts'
import type { TraceparentOf } from '../../engine/runner/assemble.ts'
import type { Sampling } from './sampler.ts'
import { createSampler } from './sampler.ts'
import { traceparentText } from './traceparent.ts'

export type Traces = {
  traceparentOf: TraceparentOf
  /** Sends the last spans, as far as the collector accepts them within seconds. */
  close(): Promise<void>
}

export const noTraces: Traces = { traceparentOf: () => undefined, close: async () => {} }

const lastSpansMs = 5_000

const { httpsProxy, httpProxy } = serverProgram.settings.outgoing

/** Where spans are sent. */
export type Collector = { url: string; proxy: ProxyUrl | undefined }

/** The exporter has connections of its own, by Node's agent, which is told of the one proxy here. */
function exporterOptions({ url, proxy }: Collector) {
  if (!proxy) return { url }
  const proxyEnv = { [httpsProxy.name]: proxy.href, [httpProxy.name]: proxy.href }
  return { url, httpAgentOptions: { keepAlive: true, proxyEnv } }
}

/**
 * Loads the libraries, so that servers without traces never load them. The libraries read OpenTelemetry's other
 * variables themselves.
 */
export async function createTraces(
  { log, bus }: { log: Log; bus: Channel },
  { collector, sampling }: { collector: Collector; sampling: Sampling },
): Promise<Traces> {
  const [api, sdk, { OTLPTraceExporter }, resources, { causesOver }, spans] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('./causes.ts'),
    import('./spans.ts'),
  ])
  const warn = (...told: unknown[]) =>
    log.warn('traces could not be sent', { reason: told.map(String).join(' ') })
  api.diag.setLogger(
    { error: warn, warn, info() {}, debug() {}, verbose() {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const own = resources.resourceFromAttributes({ 'service.name': 'steward' })
  const provider = new sdk.TracerProvider({
    resource: own.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: createSampler(sdk, sampling),
    // The queue of the processor is bounded: spans are dropped while the collector is away, and nothing waits.
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter(exporterOptions(collector)) }),
    ],
  })
  const causes = causesOver(bus, spans.mostKept)
  const work = spans.followWork(provider.getTracer('steward'), causes, (error) =>
    log.error('work could not be traced', { error }),
  )
  return {
    traceparentOf(session) {
      const context = work.contextOfTurn(session)
      return context && traceparentText(context)
    },
    async close() {
      work.stop()
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, lastSpansMs)
      await Promise.race([provider.shutdown().catch(warn), late.promise])
      clearTimeout(timer)
    },
  }
}
