/** The proxies by which the server reaches the outside, and the targets that it reaches past them. */
import { BlockList, isIP } from 'node:net'
import { isDecodable } from '@steward/base/settings/kinds.ts'

/** SECRET: never logged, as its URL may hold a password. */
export type ProxyUrl = URL

export type ProxyTarget = { host: string; port: number; isSecure: boolean }

export type Proxies = {
  /** The proxy of a target; undefined where the server dials the target itself. */
  proxyOf: (target: ProxyTarget) => ProxyUrl | undefined
  /** True: the proxy resolves the names that workspaces give, and refuses private addresses itself. */
  resolves: boolean
}

export type ProxySettings = {
  httpsProxy: ProxyUrl | undefined
  httpProxy: ProxyUrl | undefined
  noProxy: readonly string[]
  resolves: boolean
}

export const noProxies: Proxies = { proxyOf: () => undefined, resolves: false }

/** Programs take `host:port` too, as a proxy that speaks HTTP. */
export function parseProxyUrl(text: string): ProxyUrl | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  const isProxy = url && /^https?:$/.test(url.protocol) && url.hostname !== ''
  return isProxy && isDecodable(url.username + url.password) ? url : undefined
}

/** The parts of NO_PROXY, which programs separate by commas or spaces. */
export const parseNoProxy = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

type Matches = (target: ProxyTarget) => boolean

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

function addressMatcher(address: string, bits: number): Matches {
  const range = new BlockList()
  range.addSubnet(address, bits, familyOf(address))
  return ({ host }) => isIP(host) !== 0 && range.check(host, familyOf(host))
}

/** A name stands for itself and all names below it, with a dot or `*.` in front or not. */
function nameMatcher(text: string): Matches {
  const name = text.toLowerCase().replace(/^\*?\./, '')
  return ({ host }) => host === name || host.endsWith(`.${name}`)
}

/** What is neither an address nor a range counts as a name: other programs may understand more. */
function matcherOf(part: string): Matches {
  if (part === '*') return () => true
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(part) ?? []
  const text = bracketed ?? plain ?? part
  const [address = '', bits] = text.split('/')
  const most = isIP(address) === 6 ? 128 : 32
  const prefix = bits === undefined ? most : Number(bits)
  const isRange = isIP(address) !== 0 && Number.isInteger(prefix) && prefix >= 0 && prefix <= most
  const matches = isRange ? addressMatcher(address, prefix) : nameMatcher(text)
  return digits === undefined
    ? matches
    : (target) => target.port === Number(digits) && matches(target)
}

/** No proxy leads back to this machine. */
const ownMachine = ['localhost', '127.0.0.0/8', '::1']

export function createProxies({
  httpsProxy,
  httpProxy,
  noProxy,
  resolves,
}: ProxySettings): Proxies {
  const past = [...ownMachine, ...noProxy].map(matcherOf)
  return {
    resolves,
    proxyOf({ host, port, isSecure }) {
      const proxy = isSecure ? httpsProxy : httpProxy
      if (!proxy) return undefined
      const target = { host: bareHost(host).toLowerCase().replace(/\.$/, ''), port, isSecure }
      return past.some((matches) => matches(target)) ? undefined : proxy
    },
  }
}

/** An IPv6 address without its brackets. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '')
