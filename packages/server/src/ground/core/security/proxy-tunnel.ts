/** A connection through a proxy, by CONNECT. */
import { lookup } from 'node:dns/promises'
import { request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { connect, isIP } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { toUrlHost } from '@steward/base/url-host.ts'
import type { ProxyUrl } from './proxies.ts'
import { bareHost } from './proxies.ts'

type TunnelTarget = { host: string; port: number }

const credentialsOf = ({ username, password }: ProxyUrl): Record<string, string> => {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** The addresses of a name, IPv4 first: many proxies have no IPv6. The error says what the operator can do. */
export async function resolveForProxy(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch((cause: unknown) => {
    throw new Error(
      `${host} is not resolved here, and a proxy is asked for checked addresses alone; the operator of this server leaves names to the proxy by EGRESS_PROXY_RESOLVES`,
      { cause },
    )
  })
  return found.toSorted((one, other) => one.family - other.family).map(({ address }) => address)
}

function dialProxy({ protocol, hostname, port }: ProxyUrl): Socket {
  const host = bareHost(hostname)
  // One end may have sent all while the other still sends.
  const options = { host, allowHalfOpen: true }
  return protocol === 'https:'
    ? connectSecurely({
        ...options,
        port: Number(port) || 443,
        ...(isIP(host) === 0 && { servername: host }),
      })
    : connect({ ...options, port: Number(port) || 80 })
}

/**
 * Resolves with a connected socket, without TLS to the target. An error names neither the proxy, whose address concerns
 * the operator alone, nor its credentials.
 */
export function openTunnel(
  proxy: ProxyUrl,
  { host, port }: TunnelTarget,
  timeoutMs: number,
): Promise<Socket> {
  const path = `${toUrlHost(bareHost(host))}:${port}`
  return new Promise((resolve, reject) => {
    const request = sendRequest({
      createConnection: () => dialProxy(proxy),
      method: 'CONNECT',
      path,
      headers: { host: path, ...credentialsOf(proxy) },
    })
    const late = setTimeout(
      () => request.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    )
    const fail = (message: string) => {
      clearTimeout(late)
      reject(new Error(message))
    }
    // Attack: the message of the error names the proxy, and tenants are shown the cause that lies deepest.
    request.once('error', ({ code }: NodeJS.ErrnoException) =>
      fail(`the proxy of this server does not answer${code === undefined ? '' : ` (${code})`}`),
    )
    request.once('connect', ({ statusCode }, socket: Socket, head) => {
      if (statusCode !== 200) {
        socket.destroy()
        return fail(
          `the proxy of this server does not connect to ${path}: it answers ${statusCode}`,
        )
      }
      clearTimeout(late)
      if (head.length > 0) socket.unshift(head)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 60_000)
      resolve(socket)
    })
    request.end()
  })
}
