/**
 * A sandbox on another machine as the service sees it: connections with the token of a claim, and the traffic on them.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { ServiceClients } from './service.ts'

type TunnelSession = { session: string; token: string }

/** Returns the connection, or the status of the refusal. */
export async function openTunnel(
  { base }: Pick<ServiceClients, 'base'>,
  { session, token }: TunnelSession,
): Promise<Socket | number> {
  const asked = request(`${base}/v1/ext/egress/${session}`, {
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      connection: 'Upgrade',
      upgrade: 'steward-egress',
    },
  }).end()
  const answer = new Promise<Socket | number>((resolve, reject) => {
    asked.once('upgrade', (_answer, socket: Socket) => resolve(socket))
    asked.once('response', (refusal: IncomingMessage) => {
      refusal.resume()
      resolve(refusal.statusCode ?? 0)
    })
    asked.once('error', reject)
  })
  const socket = await answer
  if (typeof socket !== 'number') socket.on('error', () => socket.destroy())
  return socket
}

/** Returns the received text when it matches, or when the connection closes. */
async function heard(stream: Duplex, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('data', take)
      resolve(text)
    }
    const take = (piece: Buffer) => {
      text += piece.toString()
      if (pattern.test(text)) settle()
    }
    if (stream.destroyed) settle()
    stream.on('data', take).once('close', settle)
  })
}

/** Resolves when the connection closes for any reason. */
export const closing = (stream: Duplex): Promise<void> =>
  stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve))

/** Sends CONNECT through the tunnel. Returns undefined, or the proxy's answer when it refuses. */
export async function throughTo(tunnel: Socket, host: string): Promise<string | undefined> {
  const answer = heard(tunnel, /\r\n\r\n/)
  tunnel.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`)
  const head = await answer
  return head.startsWith('HTTP/1.1 200 ') ? undefined : head
}

export type TunnelLine = {
  /** Sends a request on the open connection. Returns the answer with its head; empty when the connection is closed. */
  ask(path: string): Promise<string>
  closed: Promise<void>
}

/** Opens HTTPS to a host through the tunnel and trusts only the authorities `ca`. */
export async function httpsTo(tunnel: Socket, host: string, ca: string): Promise<TunnelLine> {
  const refusal = await throughTo(tunnel, host)
  if (refusal !== undefined) throw new Error(refusal)
  const secure = connectTls({ socket: tunnel, servername: host, ca, ALPNProtocols: ['http/1.1'] })
  await once(secure, 'secureConnect')
  secure.on('error', () => secure.destroy())
  const closed = closing(secure)
  return {
    closed,
    async ask(path) {
      const answer = heard(secure, /\r\n\r\n.*\}\s*$/s)
      if (secure.writable) secure.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      return answer
    },
  }
}
