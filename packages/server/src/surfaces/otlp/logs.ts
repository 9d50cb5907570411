/** Sends the server's log to a collector of OpenTelemetry, masked as the log is. [http/logs] */
import type { LogLevel, LogRecord } from '@steward/base/log.ts'
import { logWritten } from '@steward/base/log.ts'
import type { Log } from '@steward/base/log.ts'
import type { Collector } from './collector.ts'
import {
  closeSoon,
  exporterOptions,
  mostWaiting,
  openOtlp,
  signalQueue,
  unsentMessage,
} from './collector.ts'

export type SentLogs = { close(): Promise<void> }

/** As long as the exporter tries a batch; the library's own timer would outlive it by 20 seconds. */
const exportTimeoutMillis = 10_000

const severities = { debug: 5, info: 9, warn: 13, error: 17 } as const satisfies Record<
  LogLevel,
  number
>

type Attribute = string | number | boolean

/** Names of OpenTelemetry's conventions for the fields of an error. */
const errorNames: Readonly<Record<string, string>> = {
  name: 'exception.type',
  message: 'exception.message',
  stack: 'exception.stacktrace',
}

const attributeOf = (value: unknown): Attribute =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value)

function attributesOf({ time: _, level: __, message: ___, ...fields }: LogRecord) {
  const attributes: Record<string, Attribute> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    if (name !== 'error' || typeof value !== 'object') attributes[name] = attributeOf(value)
    else
      for (const [part, held] of Object.entries(value))
        if (held !== undefined)
          attributes[errorNames[part] ?? `exception.${part}`] = attributeOf(held)
  }
  return attributes
}

/** Loads the libraries, so that servers whose logs stay here never load them. */
export async function sendLogs(log: Log, collector: Collector): Promise<SentLogs> {
  const [{ resource, warn }, sdk, { OTLPLogExporter }] = await Promise.all([
    openOtlp(log, 'logs', collector),
    import('@opentelemetry/sdk-logs'),
    import('@opentelemetry/exporter-logs-otlp-http'),
  ])
  const queue = signalQueue('logs', log)
  const exporter = queue.watch(
    new OTLPLogExporter(exporterOptions(collector)),
    (records: readonly unknown[]) => records.length,
  )
  const batches = { exporter, maxQueueSize: mostWaiting, exportTimeoutMillis }
  const provider = new sdk.LoggerProvider({
    resource,
    processors: [new sdk.BatchLogRecordProcessor(batches)],
  })
  const logger = provider.getLogger('steward')
  const stop = logWritten.listen((record) => {
    // A record about the collector would cause the next one.
    if (record.message.endsWith(unsentMessage) || !queue.admit()) return
    logger.emit({
      timestamp: Date.parse(record.time),
      severityNumber: severities[record.level],
      severityText: record.level,
      body: record.message,
      attributes: attributesOf(record),
    })
  }, warn)
  return {
    async close() {
      stop()
      await closeSoon(() => provider.shutdown(), warn)
      queue.end()
    },
  }
}
