/**
 * Sends lines of the audit by syslog over TLS (RFC 5424 and 5425). The protocol has no answers: a batch counts as taken
 * when the server has read the connection to its end, and then closes it as well.
 */
import { hostname } from 'node:os'
import type { Socket } from 'node:net'
import type { Clock } from '@steward/base/time.ts'
import type { buildConnector } from 'undici'
import type { AuditReceiver, StreamedLine, TakenBatch } from '../../tenants/audit/stream/job.ts'

export type SyslogServer = { host: string; port: number }

/** Facility 13 (audit), severity 6 (informational). */
const priority = 13 * 8 + 6
/** Time for the connection, and for the server to read a batch. */
const batchMs = 20_000
/** Time in which a server that is going away closes its connections by itself. */
const settleMs = 500

/** Letters of a header's field; RFC 5424 allows no spaces. */
const word = (text: string, most: number): string =>
  text.replaceAll(/[^\x21-\x7e]/g, '_').slice(0, most) || '-'

/** The mark before the message says that it is UTF-8. */
function frameOf({ text, trail, createdAt }: StreamedLine, host: string): Buffer {
  const head = `<${priority}>1 ${createdAt} ${host} steward ${process.pid} ${word(trail, 32)} -`
  const message = Buffer.from(`${head} \ufeff${text}`)
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

export function syslogReceiver(
  { host, port }: SyslogServer,
  { connect, clock }: { connect: buildConnector.connector; clock: Clock },
): AuditReceiver {
  const self = word(hostname(), 255)

  const dial = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const at = host.includes(':') ? `[${host}]` : host
      const target = {
        hostname: host,
        host: `${at}:${port}`,
        port: String(port),
        protocol: 'https:',
      }
      connect(target, (error, socket) => (socket ? resolve(socket) : reject(error)))
    })

  async function deliver(lines: readonly StreamedLine[], signal: AbortSignal): Promise<void> {
    const socket = await dial()
    const abort = () => socket.destroy(new Error('the server is being stopped'))
    signal.addEventListener('abort', abort, { once: true })
    try {
      await untilClosed(socket, Buffer.concat(lines.map((line) => frameOf(line, self))), clock)
    } finally {
      signal.removeEventListener('abort', abort)
      socket.destroy()
    }
  }

  return {
    async send(lines, signal): Promise<TakenBatch> {
      try {
        await deliver(lines, signal)
        return { ok: true }
      } catch (error) {
        return { ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    close: async () => {},
  }
}

/**
 * Writes the bytes, and ends a moment later. Resolves when the other side then has read to the end and closes as well.
 * A server that closes by itself may have read nothing: its bytes and its end may cross.
 */
function untilClosed(socket: Socket, bytes: Buffer, clock: Clock): Promise<void> {
  const over = new AbortController()
  return new Promise<void>((resolve, reject) => {
    let isEnded = false
    socket.setTimeout(batchMs, () => socket.destroy(new Error('the syslog server does not answer')))
    socket
      .once('error', reject)
      .once('end', () =>
        isEnded
          ? resolve()
          : reject(new Error('the syslog server closed the connection by itself')),
      )
      .once('close', () => reject(new Error('the syslog server broke the connection off')))
    socket.resume()
    socket.write(bytes, () => {
      void clock.sleep(settleMs, over.signal).then(() => {
        isEnded = !over.signal.aborted
        if (isEnded) socket.end()
      })
    })
  }).finally(() => over.abort('the batch is over'))
}
