/** Sends lines of the audit to a collector of OpenTelemetry, as log records. */
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import type { Log } from '@steward/base/log.ts'
import type { AuditReceiver, StreamedLine, TakenBatch } from '../../tenants/audit/stream/job.ts'
import type { Collector } from '../otlp/collector.ts'
import { exporterOptions, keyMask, openOtlp } from '../otlp/collector.ts'

/** INFO, by the numbers of OpenTelemetry. */
const severityNumber = 9

/** Loads the libraries, so that servers without a stream never load them. */
export async function otlpReceiver(log: Log, collector: Collector): Promise<AuditReceiver> {
  const [{ resource }, sdk, { OTLPLogExporter }] = await Promise.all([
    openOtlp(log, 'logs', collector),
    import('@opentelemetry/sdk-logs'),
    import('@opentelemetry/exporter-logs-otlp-http'),
  ])
  const withoutKeys = keyMask(collector)
  const exporter = new OTLPLogExporter(exporterOptions(collector))

  /** The records of a batch, in its order. */
  function recordsOf(lines: readonly StreamedLine[]): ReadableLogRecord[] {
    const records: ReadableLogRecord[] = []
    const provider = new sdk.LoggerProvider({
      resource,
      processors: [
        {
          onEmit: (record) => void records.push(record),
          forceFlush: async () => {},
          shutdown: async () => {},
        },
      ],
    })
    const logger = provider.getLogger('steward.audit')
    for (const { text, id, trail, createdAt } of lines)
      logger.emit({
        timestamp: Date.parse(createdAt),
        severityNumber,
        severityText: 'audit',
        body: text,
        eventName: 'steward.audit',
        attributes: { 'steward.audit.id': id, 'steward.audit.trail': trail },
      })
    return records
  }

  return {
    send: (lines) =>
      new Promise<TakenBatch>((resolve) => {
        exporter.export(recordsOf(lines), ({ code, error }) => {
          if (code === 0) resolve({ ok: true })
          else
            resolve({
              ok: false,
              reason: withoutKeys(error?.message ?? 'the collector takes nothing'),
            })
        })
      }),
    close: () => exporter.shutdown(),
  }
}
