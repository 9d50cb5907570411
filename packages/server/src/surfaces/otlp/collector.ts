/** The collector of OpenTelemetry: where traces, metrics and logs are sent, and what becomes of them. */
import { createObservation } from '@steward/base/observation.ts'
import type { Log } from '@steward/base/log.ts'
import { createMask } from '@steward/mask/mask.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { ProxyUrl } from '../../ground/core/security/proxies.ts'

export type Signal = 'traces' | 'metrics' | 'logs'

/** Where a signal is sent. SECRET: never logged, as its headers may hold a key. */
export type Collector = {
  url: string
  proxy: ProxyUrl | undefined
  headers: Readonly<Record<string, string>>
}

/** Records that a collector has taken or refused, and those that were dropped because too many waited for it. */
export const recordsSent = createObservation<{
  signal: Signal
  outcome: 'sent' | 'failed' | 'dropped'
  records: number
}>('telemetry-records-sent')

const { httpsProxy, httpProxy } = serverProgram.settings.outgoing

/** The exporters have connections of their own, by Node's agent, which is told of the one proxy here. */
export function exporterOptions({ url, proxy, headers }: Collector) {
  if (!proxy) return { url, headers: { ...headers } }
  const proxyEnv = { [httpsProxy.name]: proxy.href, [httpProxy.name]: proxy.href }
  return { url, headers: { ...headers }, httpAgentOptions: { keepAlive: true, proxyEnv } }
}

/** Records that wait for a collector at most. Further ones are dropped, and nothing waits for them. */
export const mostWaiting = 2_048

/** The end of the messages with which this room tells that nothing reaches the collector. */
export const unsentMessage = 'could not be sent'

const tellEveryMs = 60_000

type ExportResult = { code: number }
type Exporter<Records> = { export(records: Records, done: (result: ExportResult) => void): void }

export type SignalQueue = {
  /** False: too many wait, and the record is dropped. */
  admit(): boolean
  /** Makes the exporter tell what becomes of its records. `count`: the number of records in a batch. */
  watch<Records, Of extends Exporter<Records>>(
    exporter: Of,
    count: (records: Records) => number,
  ): Of
  /** Batches that the exporter has not begun are dropped. */
  end(): void
}

/** As OpenTelemetry's library has it. */
const failedCode = 1

export function signalQueue(signal: Signal, log: Log): SignalQueue {
  let waiting = 0
  let dropped = 0
  let tellMs = 0
  let hasEnded = false

  function note(outcome: 'sent' | 'failed' | 'dropped', records: number): void {
    recordsSent.tell({ signal, outcome, records })
    if (outcome === 'sent') return
    dropped += records
    const now = performance.now()
    if (now < tellMs) return
    log.warn(`${signal} ${unsentMessage}`, { reason: outcome, dropped_records: dropped })
    dropped = 0
    tellMs = now + tellEveryMs
  }

  return {
    admit() {
      if (waiting >= mostWaiting) {
        note('dropped', 1)
        return false
      }
      waiting++
      return true
    },
    watch(exporter, count) {
      const send = exporter.export.bind(exporter)
      exporter.export = (records, done) => {
        if (hasEnded) return done({ code: failedCode })
        send(records, (result) => {
          waiting = Math.max(0, waiting - count(records))
          note(result.code === 0 ? 'sent' : 'failed', count(records))
          done(result)
        })
      }
      return exporter
    },
    end() {
      hasEnded = true
    },
  }
}

/** A collector may repeat a key in its answer, which the library then tells. */
export function keyMask({ headers }: Collector): (text: string) => string {
  const mask = createMask(Object.values(headers))
  return (text) => mask?.text(text) ?? text
}

/** The libraries that all signals need. OpenTelemetry's own variables name further attributes of the resource. */
export async function openOtlp(log: Log, signal: Signal, collector: Collector) {
  const [api, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
  ])
  const withoutKeys = keyMask(collector)
  const warn = (...told: unknown[]) =>
    log.warn(`${signal} ${unsentMessage}`, { reason: withoutKeys(told.map(String).join(' ')) })
  api.diag.setLogger(
    { error: warn, warn, info() {}, debug() {}, verbose() {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const own = resources.resourceFromAttributes({ 'service.name': 'steward' })
  const resource = own.merge(resources.detectResources({ detectors: [resources.envDetector] }))
  return { resource, warn }
}

const lastRecordsMs = 5_000

/** Waits for the last records, as far as the collector accepts them within seconds. */
export async function closeSoon(
  shutdown: () => Promise<unknown>,
  failed: (error: unknown) => void,
): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, lastRecordsMs)
  await Promise.race([shutdown().catch(failed), late.promise])
  clearTimeout(timer)
}
