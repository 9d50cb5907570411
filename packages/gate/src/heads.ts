/** Reads heads of requests and answers, and selects the headers that are passed on. RFC 9110 7.6, RFC 9112 3, 6 */
import type { IncomingMessage } from 'node:http'
import type { HeaderPairs, GateRefusal, GateTarget } from './outbound.ts'
import { isBadPort, readHost } from './policy.ts'
import type { GateAnswer } from './gate-answers.ts'
import { invalidAnswer } from './gate-answers.ts'

/** A tunnel whose requests are read by the gate. */
export type OpenedTunnel = { target: GateTarget; scheme: 'http' | 'https' }

export type GateRequest = { url: URL; target: GateTarget; headers: HeaderPairs; hasBody: boolean }

export type RequestObjection = { answer: GateAnswer } | { refusal: GateRefusal }

const defaultPort = { http: 80, https: 443 } as const

/** Hop-by-hop headers. RFC 9110 7.6.1 */
const ofOneHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Headers that repeat the URL, or that concern only the client and the gate. */
export const settledHere: ReadonlySet<string> = new Set(['host', 'expect', 'http2-settings'])

const invalid = (message: string): RequestObjection => ({ answer: invalidAnswer(message) })

/** Reads `name:port` and nothing else. The port may be missing when there is a default. */
export function readAuthority(
  text: string,
  port?: number,
): { host: string; port: number; isAddress: boolean } | undefined {
  const [, name = '', digits] = /^(\[[^[\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = readHost(name)
  const number = digits === undefined ? port : Number(digits)
  if (!host || number === undefined || number > 65_535) return undefined
  const isAddress = host.kind === 'address'
  return { host: isAddress ? host.address : host.name, port: number, isAddress }
}

/** Targets that every gate refuses, whatever its owner decides. */
export function isBarred(authority: GateTarget & { isAddress: boolean }): GateRefusal | undefined {
  const { host, port, isAddress } = authority
  if (isAddress) {
    const message = `${host} is a bare address; only names of hosts may be reached`
    return { host, port, reason: 'bare_address', message }
  }
  if (!isBadPort(port)) return undefined
  return { host, port, reason: 'port', message: `port ${port} of ${host} may not be reached` }
}

export const mismatchRefusal = ({ host, port }: GateTarget, other: string): GateRefusal => ({
  host,
  port,
  reason: 'mismatch',
  message: `the connection is to ${host}, and the request names ${other}`,
})

/** The target of a CONNECT request. */
export function readConnect({
  url = '',
  rawHeaders,
}: IncomingMessage): GateTarget | RequestObjection {
  const target = readAuthority(url)
  if (!target) return invalid('CONNECT takes the name of a host and a port')
  const head = readHead(rawHeaders)
  if (head.hosts.length > 1 || head.lengths > 0 || head.codings.length > 0) {
    return invalid('a CONNECT has one Host and no body')
  }
  const [named] = head.hosts
  if (named !== undefined) {
    const host = readAuthority(named, target.port)
    if (host?.host !== target.host || host.port !== target.port) {
      return { refusal: mismatchRefusal(target, 'another host') }
    }
  }
  const refusal = isBarred(target)
  return refusal ? { refusal } : { host: target.host, port: target.port }
}

/** `inside`: the tunnel of the request. A request to the proxy itself names its host in its first line. */
export function readRequest(
  message: IncomingMessage,
  inside?: OpenedTunnel,
): GateRequest | RequestObjection {
  const head = readHead(message.rawHeaders)
  const wrong = wrongIn(head)
  if (wrong) return wrong
  const wanted = inside ? withinTunnel(message.url ?? '', inside) : absolute(message.url ?? '')
  if (!('url' in wanted)) return wanted
  const { url, target } = wanted
  const [host = ''] = head.hosts
  // A missing port does not count as a mismatch.
  const named = host === target.host ? target : readAuthority(host, target.port)
  if (named?.host !== target.host || named.port !== target.port) {
    return { refusal: mismatchRefusal(target, 'another host') }
  }
  const hasBody = head.codings.length > 0 || head.lengths > 0
  return { url, target, headers: onwardHeaders(head.all, settledHere), hasBody }
}

/** Refuses anything that two programs could read in two ways. */
function wrongIn({
  hosts,
  codings,
  lengths,
}: ReturnType<typeof readHead>): RequestObjection | undefined {
  if (hosts.length !== 1) return invalid('a request has one Host header')
  const [coding] = codings
  if (coding === undefined) return undefined
  if (lengths > 0) return invalid('a body has one kind of length')
  if (codings.length === 1 && coding.toLowerCase() === 'chunked') return undefined
  const message = 'a body comes in chunks, or with its length, and in no other coding'
  return { answer: invalidAnswer(message, 501) }
}

function withinTunnel(
  path: string,
  inside: OpenedTunnel,
): { url: URL; target: GateTarget } | RequestObjection {
  const { target, scheme } = inside
  const { host, port } = target
  const origin = `${scheme}://${port === defaultPort[scheme] ? host : `${host}:${port}`}`
  if (path.startsWith('/')) {
    const url = URL.parse(origin + path)
    return url ? { url, target } : invalid('the path of the request cannot be read')
  }
  const url = /^https?:\/\//i.test(path) ? URL.parse(path) : null
  if (!url || url.username || url.password) return invalid('a request in a tunnel names a path')
  if (url.origin !== origin) return { refusal: mismatchRefusal(target, 'another origin') }
  return { url, target }
}

function absolute(text: string): { url: URL; target: GateTarget } | RequestObjection {
  const url = /^http:\/\//i.test(text) ? URL.parse(text) : null
  if (!url || url.username || url.password) {
    return invalid(
      'this is a proxy: it takes CONNECT, and requests for http:// URLs without a user',
    )
  }
  const target = readAuthority(url.host, defaultPort.http)
  if (!target) return invalid('the URL of the request cannot be read')
  const refusal = isBarred(target)
  if (refusal) return { refusal }
  url.hostname = target.host
  return { url, target: { host: target.host, port: target.port } }
}

function readHead(raw: readonly string[]) {
  const all: HeaderPairs = []
  const hosts: string[] = []
  const codings: string[] = []
  let lengths = 0
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]]
    const lower = name.toLowerCase()
    if (lower === 'content-length') lengths++
    if (lower === 'host') hosts.push(value)
    if (lower === 'transfer-encoding') codings.push(value)
    all.push([name, value])
  }
  return { all, hosts, codings, lengths }
}

/** Headers to pass on: without hop-by-hop headers, headers that Connection names, and headers of `more`. */
export function onwardHeaders(headers: HeaderPairs, more?: ReadonlySet<string>): HeaderPairs {
  const named = new Set<string>()
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue
    for (const part of value.split(',')) named.add(part.trim().toLowerCase())
  }
  return headers.filter(([name]) => {
    const lower = name.toLowerCase()
    return !ofOneHop.has(lower) && !named.has(lower) && !more?.has(lower)
  })
}

const lengthAlone: ReadonlySet<string> = new Set(['content-length'])

/** An answer's headers to pass on, as a flat list. A 204 has no length. RFC 9110 8.6 */
export const onwardAnswer = (headers: HeaderPairs, status: number): string[] =>
  onwardHeaders(headers, status === 204 ? lengthAlone : undefined).flat()
