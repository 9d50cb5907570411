/** The stream of the audit to a receiver outside, such as a SIEM. */
import type { Config } from '../ground/config/config.ts'
import type { Job } from '../ground/core/time/jobs.ts'
import type { Ground } from '../ground/ground.ts'
import { auditStreamJob } from '../tenants/audit/stream/job.ts'
import type { Diallers } from './diallers.ts'
import { collectorsOf } from './telemetry.ts'

type OpenStream = { jobs: Job[]; close(): Promise<void> }

const noStream: OpenStream = { jobs: [], close: async () => {} }

/** Loads what sends, so that servers without a stream never load it. */
export async function openAuditStream(
  config: Config,
  ground: Ground,
  { operator }: Diallers,
): Promise<OpenStream> {
  const { auditStream } = config
  if (!auditStream) return noStream
  const receiver = await (async () => {
    if (auditStream.type === 'syslog') {
      const { syslogReceiver } = await import('../surfaces/audit-stream/syslog.ts')
      return syslogReceiver(auditStream, { ...ground, connect: operator.connect })
    }
    const { otlpReceiver } = await import('../surfaces/audit-stream/otlp.ts')
    // The stream needs no exporter of logs beside it.
    const { logs } = collectorsOf({ ...config, otlp: { ...config.otlp, logsExporter: 'otlp' } })
    if (!logs) throw new Error('the configuration was read without an endpoint of the collector')
    return otlpReceiver(ground.log, logs)
  })()
  return {
    jobs: [auditStreamJob({ ...ground, receiver })],
    close: () => receiver.close(),
  }
}
