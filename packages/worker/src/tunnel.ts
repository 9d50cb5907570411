/**
 * The egress of a session's sandbox on a worker. Each connection is forwarded unchanged to the service, under the
 * claim's token; the session's gate in the service reads it. docs/workers.md "Egress"
 */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { request as plainRequest, STATUS_CODES } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pumpBytes } from '@steward/gate/pump.ts'
import type { SandboxEgress } from '@steward/sandbox/sandbox.ts'
import { parseNamed } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import { temporaryFolder } from './temporary-folder.ts'

/** SECRET: never logged. */
export type TunnelClaim = { baseUrl: string; session: string; token: string }

export type EgressTunnel = {
  egress: SandboxEgress
  /** Environment variables of every command. */
  variables: Record<string, string>
  close(): Promise<void>
}

/** The service's limit for one claim. */
const mostConnections = 256
const openWithinMs = 20_000
const askWithinMs = 30_000
/** A little longer than the gate's limit, so that the gate ends idle connections. */
const idleMs = 16 * 60_000

const TunnelSettings = z.object({
  certificates: z.string(),
  variables: z.record(z.string(), z.string()),
})

/** Rejects when the service does not return the certificates. */
export async function openTunnel(claimed: TunnelClaim): Promise<EgressTunnel> {
  const { certificates: pem, variables } = await ask(claimed)
  const folder = await temporaryFolder('out')
  const [socket, certificates] = [join(folder.path, 'socket'), join(folder.path, 'authorities.pem')]
  await writeFile(certificates, pem)
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (connection) => {
    open.add(connection)
    connection.once('close', () => open.delete(connection))
    forwardConnection(claimed, connection)
  })
  server.maxConnections = mostConnections
  server.listen(socket)
  await once(server, 'listening')
  return {
    egress: { socket, certificates },
    variables,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const each of open) each.destroy()
      await closed
      await folder.remove()
    },
  }
}

async function ask(claimed: TunnelClaim): Promise<z.infer<typeof TunnelSettings>> {
  const answer = await fetch(addressOf(claimed, '/authorities'), {
    headers: { authorization: `Bearer ${claimed.token}` },
    signal: AbortSignal.timeout(askWithinMs),
  })
  if (!answer.ok) throw new Error(`the service opens no tunnel: status ${answer.status}`)
  return parseNamed(
    'the answer of the service about its egress',
    TunnelSettings,
    await answer.json(),
  )
}

const addressOf = ({ baseUrl, session }: TunnelClaim, more = ''): URL =>
  new URL(`${baseUrl.replace(/\/+$/, '')}/v1/ext/egress/${encodeURIComponent(session)}${more}`)

/** Reads no byte of the connection before the service has accepted it. */
export function forwardConnection(claimed: TunnelClaim, connection: Socket): void {
  connection.on('error', () => connection.destroy())
  const onward = begin(claimed)
  const late = setTimeout(() => onward.destroy(new Error('it took too long')), openWithinMs)
  onward.once('close', () => clearTimeout(late))
  const leave = (): void => void onward.destroy()
  connection.once('close', leave)
  onward.on('upgrade', (_answer, upstream: Socket, head: Buffer) => {
    clearTimeout(late)
    connection.off('close', leave)
    if (head.length > 0) upstream.unshift(head)
    pumpBytes(connection, upstream, idleMs).open()
  })
  onward.on('response', (answer) => {
    answer.resume()
    refuse(connection, answer.statusCode ?? 502, 'the service refused the connection')
  })
  onward.on('error', (error) =>
    refuse(connection, 502, `the service was not reached: ${error.message}`),
  )
  onward.end()
}

function begin(claimed: TunnelClaim): ClientRequest {
  const url = addressOf(claimed)
  const send = url.protocol === 'https:' ? secureRequest : plainRequest
  return send(url, {
    agent: false,
    headers: {
      authorization: `Bearer ${claimed.token}`,
      connection: 'Upgrade',
      upgrade: 'steward-egress',
    },
  })
}

/** Answers the unread request with an error. Many clients show only the status phrase, so the reason is in it. */
function refuse(connection: Socket, status: number, why: string): void {
  if (connection.destroyed) return
  const phrase = why.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
  connection.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}: ${phrase}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  )
  connection.resume()
}
