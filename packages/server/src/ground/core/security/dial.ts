/**
 * The guarded dialler for every connection to the outside. It refuses private, loopback, link-local and metadata
 * addresses unless the operator allows them: one setting for endpoints that the operator names, another for endpoints
 * that tenants name. A name is checked by the addresses of the look-up that the connection uses, so that a second
 * answer cannot replace them (DNS rebinding). Through a proxy, a name of a tenant is resolved and checked here too, and
 * the proxy is asked for the address; only where the operator says so does the proxy resolve the name.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { lookup } from 'node:dns'
import type { LookupOptions } from 'node:dns'
import type { Socket } from 'node:net'
import { BlockList, connect as dial, isIP } from 'node:net'
import { callbackify } from 'node:util'
import type { Dispatcher } from 'undici'
import type { Proxies, ProxyTarget, ProxyUrl } from './proxies.ts'
import { bareHost, noProxies } from './proxies.ts'
import { openTunnel, resolveForProxy } from './proxy-tunnel.ts'
import { Agent, buildConnector } from './undici.ts'

/**
 * Reserved, local, shared and metadata ranges, and IPv6 that wraps IPv4. RFC 6890, RFC 4193, RFC 4291, RFC 9602, RFC
 * 9637, RFC 9780
 */
const refused: [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  // Public by its number, but within Azure it is each machine's own metadata.
  ['168.63.129.16', 32, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['100:0:0:1::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
  ['5f00::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

const opened = '; its operator opens it by EGRESS_TENANT_TARGETS'

/** The dial was refused before a packet was sent. The message hides what a name resolves to; only the log has it. */
export class RefusedAddressError extends Error {
  readonly code = 'EREFUSEDADDRESS'
  constructor(host: string, namer: Namer) {
    const leads = isIP(host) === 0 ? 'leads to' : 'is'
    super(
      `${host} ${leads} a private or reserved address, which this server does not dial${namer === 'tenant' ? opened : ''}`,
    )
  }
}

/** The party that names an endpoint. Each has its own allow list. */
export type Namer = 'operator' | 'tenant'

export type ResolvedAddress = { host: string; port: number; address: string }

/** The rules for addresses of one namer. */
export type Guard<Whose extends Namer> = {
  readonly namer: Whose
  may(address: ResolvedAddress): boolean
  /** Called with each address that is refused. */
  reportRefusal(address: ResolvedAddress): void
  readonly proxies: Proxies
}

/** A dialler whose type names its namer, so that one cannot be passed where the other is expected. */
export type Connector<Whose extends Namer> = buildConnector.connector & { readonly whose: Whose }
export type Dial<Whose extends Namer, Opened = Socket> = ((target: {
  host: string
  port: number
}) => Promise<Opened>) & { readonly whose: Whose }

/** A private target that tenants may name: a range, or a host name with any address. Port null: every port. */
export type PrivateTarget = { port: number | null } & (
  | { host: string }
  | { address: string; bits: number; family: 'ipv4' | 'ipv6' }
)

/** `a.b.c.d/n`, `x::/n` or a bare address; undefined for anything else. */
function parseRange(text: string) {
  const [, address = '', bits] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  const prefix = bits === undefined ? most : Number(bits)
  if (family === 0 || prefix > most) return undefined
  return { address, bits: prefix, family: family === 6 ? ('ipv6' as const) : ('ipv4' as const) }
}

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

/** Parses ranges separated by commas. Throws for a text that is no range. */
export function parseRanges(text: string): BlockList {
  const ranges = new BlockList()
  for (const part of partsOf(text)) {
    const range = parseRange(part)
    if (!range) throw new Error(`${part} is not an address range such as 127.0.0.0/8`)
    ranges.addSubnet(range.address, range.bits, range.family)
  }
  return ranges
}

const label = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/

/** Parses `host:port` and `range:port`, separated by commas; IPv6 in brackets; the port may be `*`. Or throws. */
export const parseTargets = (text: string): PrivateTarget[] =>
  partsOf(text).map((part) => {
    const wrong = new Error(
      `${part} is not host:port or range:port, such as git.internal:443, 10.1.0.0/16:8080 or [fd00::]:*`,
    )
    const [, bracketed, plain = '', digits = ''] =
      /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5}|\*)$/.exec(part) ?? []
    const port = digits === '*' ? null : Number(digits)
    if (digits === '' || (port !== null && (port < 1 || port > 65_535))) throw wrong
    const range = parseRange(bracketed ?? plain)
    if (range) return { ...range, port }
    const host = plain.toLowerCase()
    if (bracketed !== undefined || /^[\d.]+$/.test(host)) throw wrong
    if (!host.split('.').every((each) => label.test(each))) throw wrong
    return { host, port }
  })

function publicOnly(): (address: string) => boolean {
  const blocked = new BlockList()
  for (const [address, bits, family] of refused) blocked.addSubnet(address, bits, family)
  // A BlockList checks an IPv4 address within IPv6 (::ffff:0:0/96) by its IPv4 ranges.
  return (address) => !blocked.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
const nobody = (): void => {}

/** The guard of endpoints that the operator's settings name. */
export function operatorGuard(
  allowed: BlockList,
  told: Guard<'operator'>['reportRefusal'] = nobody,
  proxies = noProxies,
) {
  const isPublic = publicOnly()
  const guard: Guard<'operator'> = {
    namer: 'operator',
    may: ({ address }) => allowed.check(address, familyOf(address)) || isPublic(address),
    reportRefusal: told,
    proxies,
  }
  return guard
}

/** Every address may be dialled: for processes that connect to what their operator names, and to nothing else. */
export const openGuard = (proxies: Proxies): Guard<'operator'> =>
  operatorGuard(parseRanges('0.0.0.0/0,::/0'), nobody, proxies)

/** The guard of endpoints that workspaces and their agents name. */
export function tenantGuard(
  allowed: readonly PrivateTarget[],
  told: Guard<'tenant'>['reportRefusal'] = nobody,
  proxies = noProxies,
) {
  const isPublic = publicOnly()
  const matchers = allowed.map((target) => {
    const leads = 'host' in target ? byName(target.host) : byRange(target)
    return (address: ResolvedAddress) =>
      (target.port === null || target.port === address.port) && leads(address)
  })
  const guard: Guard<'tenant'> = {
    namer: 'tenant',
    may: (address) => isPublic(address.address) || matchers.some((matches) => matches(address)),
    reportRefusal: told,
    proxies,
  }
  return guard
}

const byName = (name: string) => (address: ResolvedAddress) =>
  address.host.toLowerCase().replace(/\.$/, '') === name

function byRange({ address, bits, family }: Extract<PrivateTarget, { bits: number }>) {
  const range = new BlockList()
  range.addSubnet(address, bits, family)
  return (address: ResolvedAddress) => range.check(address.address, familyOf(address.address))
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | { address: string; family: number }[],
  family?: number,
) => void

type Lookup = (host: string, options: LookupOptions, found: LookupCallback) => void

const guardedLookup =
  (guard: Guard<Namer>, port: number): Lookup =>
  (host, options, found) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return found(error, [])
      const refusal = refusalOf(
        guard,
        addresses.map(({ address }) => ({ host, port, address })),
      )
      if (refusal) return found(refusal, [])
      if (options.all) return found(null, addresses)
      const [first] = addresses
      found(null, first?.address ?? '', first?.family)
    })
  }

function refusalOf(
  guard: Guard<Namer>,
  addresses: readonly ResolvedAddress[],
): RefusedAddressError | undefined {
  const bad = addresses.find((address) => !guard.may(address))
  if (!bad) return undefined
  guard.reportRefusal(bad)
  return new RefusedAddressError(bad.host, guard.namer)
}

/** Checks a literal address, for which no look-up is made. */
function refusedLiteral(guard: Guard<Namer>, hostname: string, port: number) {
  const host = bareHost(hostname)
  return isIP(host) === 0 ? undefined : refusalOf(guard, [{ host, port, address: host }])
}

/** The host to ask a proxy for: an address that was checked, or a name that the proxy resolves. */
async function hostForProxy(guard: Guard<Namer>, host: string, port: number): Promise<string> {
  if (isIP(host) !== 0 || guard.namer === 'operator' || guard.proxies.resolves) return host
  const found = (await resolveForProxy(host)).map((address) => ({ host, port, address }))
  const refusal = refusalOf(guard, found)
  if (refusal) throw refusal
  if (!found[0]) throw new Error(`${host} has no address`)
  return found[0].address
}

/** Rejects with `RefusedAddressError`, or with the error of the proxy. */
async function dialByProxy(
  guard: Guard<Namer>,
  proxy: ProxyUrl,
  { host, timeoutMs, ...target }: ProxyTarget & { timeoutMs: number },
): Promise<Socket> {
  const { port } = target
  const refusal = refusedLiteral(guard, host, port)
  if (refusal) throw refusal
  const found = await hostForProxy(guard, host, port)
  // Attack: a name leads to 127.0.0.1, which at the proxy would be another machine than the one that was meant.
  return guard.proxies.proxyOf({ ...target, host: found })
    ? openTunnel(proxy, { host: found, port }, timeoutMs)
    : dialDirectly(guard, { host: found, port, timeoutMs })
}

const usualPort = (protocol: string): number => (protocol === 'http:' ? 80 : 443)

/** A connector for undici, with TLS for https URLs. Refuses addresses at the dial. */
export function guardedConnector<Whose extends Namer>(
  guard: Guard<Whose>,
  options: { allowH2?: boolean } = {},
): Connector<Whose> {
  // A guard checks an address together with its port.
  const byPort = new Map<number, buildConnector.connector>()
  function towards(port: number): buildConnector.connector {
    const known = byPort.get(port)
    if (known) return known
    if (byPort.size >= mostConnectors) byPort.clear()
    const made = buildConnector({ ...options, lookup: guardedLookup(guard, port) })
    byPort.set(port, made)
    return made
  }
  const connect: buildConnector.connector = (target, callback) => {
    const port = Number(target.port) || usualPort(target.protocol)
    const host = bareHost(target.hostname)
    const isSecure = target.protocol === 'https:'
    const proxy = guard.proxies.proxyOf({ host, port, isSecure })
    if (proxy) {
      const dialled = callbackify(() =>
        dialByProxy(guard, proxy, { host, port, isSecure, timeoutMs: dialMs }),
      )
      return dialled((error, httpSocket) => {
        if (error) callback(error, null)
        else if (isSecure) towards(port)({ ...target, httpSocket }, callback)
        else callback(null, httpSocket)
      })
    }
    const refusal = refusedLiteral(guard, host, port)
    if (refusal) return callback(refusal, null)
    towards(port)(target, callback)
  }
  return dialsFor(guard.namer, connect)
}

const mostConnectors = 1_000
const dialMs = 10_000

/** Marks a dialler with its namer. */
export const dialsFor = <Whose extends Namer, Args extends unknown[], Result>(
  whose: Whose,
  dial: (...args: Args) => Result,
): ((...args: Args) => Result) & { readonly whose: Whose } =>
  Object.assign((...args: Args) => dial(...args), { whose })

const keepAliveTimeout = 30_000

/** An undici dispatcher that refuses addresses at the dial. */
export const guardedAgent = (guard: Guard<Namer>, silenceMs = usualSilenceMs): Agent =>
  new Agent({
    connect: guardedConnector(guard),
    keepAliveTimeout,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })

/** Time without a byte after which a connection is given up. */
const usualSilenceMs = 300_000

const operating = new AsyncLocalStorage<true>()

/** Within `call`, the global `fetch` dials by the operator's guard; everywhere else it dials by the tenants' guard. */
export const asOperator = <T>(call: () => T): T => operating.run(true, call)

/** A `fetch` for endpoints that the operator names. */
export const operatorFetch: typeof fetch = (input, init) => asOperator(() => fetch(input, init))

/**
 * The dispatcher of the global `fetch`. The two guards share no connections. `modelSilenceMs`: models may be silent for
 * longer than others.
 */
export function guardedDispatcher(
  guards: { operator: Guard<'operator'>; tenant: Guard<'tenant'> },
  modelSilenceMs = usualSilenceMs,
): Dispatcher {
  const silenceMs = Math.max(usualSilenceMs, modelSilenceMs)
  const operator = guardedAgent(guards.operator, silenceMs)
  return guardedAgent(guards.tenant, silenceMs).compose(
    (dispatch) => (options, handler) =>
      operating.getStore() ? operator.dispatch(options, handler) : dispatch(options, handler),
  )
}

/** Resolves with a connected socket, without TLS. Rejects with `RefusedAddressError`, or with the error of the dial. */
export function guardedDial(
  guard: Guard<Namer>,
  { host, port, timeoutMs = dialMs }: { host: string; port: number; timeoutMs?: number },
): Promise<Socket> {
  // What a sandbox sends is TLS almost everywhere but at port 80.
  const isSecure = port !== 80
  const proxy = guard.proxies.proxyOf({ host, port, isSecure })
  if (proxy) return dialByProxy(guard, proxy, { host, port, isSecure, timeoutMs })
  const refusal = refusedLiteral(guard, host, port)
  if (refusal) return Promise.reject(refusal)
  return dialDirectly(guard, { host, port, timeoutMs })
}

function dialDirectly(
  guard: Guard<Namer>,
  { host, port, timeoutMs }: { host: string; port: number; timeoutMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = dial({ host, port, lookup: guardedLookup(guard, port), allowHalfOpen: true })
    const late = setTimeout(
      () => socket.destroy(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    socket.setNoDelay(true)
    socket.once('error', reject)
    socket.once('close', () => clearTimeout(late))
    socket.once('connect', () => {
      clearTimeout(late)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
