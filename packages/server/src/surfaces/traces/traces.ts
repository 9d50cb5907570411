/**
 * Traces for OpenTelemetry: requests, turns, and the model requests and tool calls within turns. No span holds a
 * message, or the input or result of a tool. [http/traces]
 */
import type { Log } from '@steward/base/log.ts'
import type { Channel } from '../../ground/bus/bus.ts'
import type { Collector } from '../otlp/collector.ts'
import {
  closeSoon,
  exporterOptions,
  mostWaiting,
  openOtlp,
  signalQueue,
} from '../otlp/collector.ts'
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

/**
 * Loads the libraries, so that servers without traces never load them. The libraries read OpenTelemetry's other
 * variables themselves.
 */
export async function createTraces(
  { log, bus }: { log: Log; bus: Channel },
  { collector, sampling }: { collector: Collector; sampling: Sampling },
): Promise<Traces> {
  const [{ resource, warn }, sdk, { OTLPTraceExporter }, { causesOver }, spans] = await Promise.all(
    [
      openOtlp(log, 'traces', collector),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('./causes.ts'),
      import('./spans.ts'),
    ],
  )
  const queue = signalQueue('traces', log)
  const exporter = queue.watch(
    new OTLPTraceExporter(exporterOptions(collector)),
    (sent: readonly unknown[]) => sent.length,
  )
  const batches = new sdk.BatchSpanProcessor({ exporter, maxQueueSize: mostWaiting })
  const provider = new sdk.TracerProvider({
    resource,
    sampler: createSampler(sdk, sampling),
    spanProcessors: [
      {
        onStart: (span, context) => batches.onStart(span, context),
        onEnd: (span) => {
          if (queue.admit()) batches.onEnd(span)
        },
        forceFlush: () => batches.forceFlush(),
        shutdown: () => batches.shutdown(),
      },
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
      await closeSoon(() => provider.shutdown(), warn)
      queue.end()
    },
  }
}
