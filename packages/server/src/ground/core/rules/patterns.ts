/** Patterns of allow-lists: hosts, beginnings of URLs, and names with `*`. */
import { hostList, normalHost } from '@steward/gate/policy.ts'
import type { RuleKind } from '@steward/protocol/rules.ts'

export type NameMatcher = (name: string) => boolean

const urlKinds: readonly RuleKind[] = ['mcp_servers', 'webhooks']
const stdio = 'stdio:'

/** The name under which lists of MCP servers have a server that a worker starts. */
export const stdioName = (server: string): string => stdio + server

/** True when one of the patterns matches. Throws for a pattern that `refusePattern` refuses. */
export function matcherOf(kind: RuleKind, patterns: readonly string[]): NameMatcher {
  const all = patterns.map((pattern) => matcherOfOne(kind, pattern))
  return (name) => all.some((matches) => matches(name))
}

/** The reason why a list cannot have this pattern. */
export function refusePattern(kind: RuleKind, pattern: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(pattern)) return 'may hold no space and no control character'
  if (!urlKinds.includes(kind) || pattern === '*') return undefined
  if (pattern.startsWith(stdio))
    return kind === 'mcp_servers' ? undefined : 'stdio: is for MCP servers alone'
  if (!pattern.includes('://'))
    return normalHost(withoutStar(pattern)) === undefined
      ? 'must be a host, *. and a host, or the beginning of an http or https URL'
      : undefined
  return refuseUrlPattern(pattern)
}

function refuseUrlPattern(pattern: string): string | undefined {
  const url = URL.parse(pattern)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must begin with http:// or https://'
  if (url.username || url.password || url.search || url.hash)
    return 'may have no user, password, query or fragment'
  if (url.pathname.includes('*')) return 'has a * in its path: the beginning of a URL needs none'
  return url.hostname.includes('*') && normalHost(withoutStar(url.hostname)) === undefined
    ? 'has a * elsewhere than at the beginning of its host'
    : undefined
}

const withoutStar = (host: string): string => host.replace(/^\*\./, '')

function matcherOfOne(kind: RuleKind, pattern: string): NameMatcher {
  const refused = refusePattern(kind, pattern)
  if (refused !== undefined) throw new Error(`${JSON.stringify(pattern)} ${refused}`)
  if (!urlKinds.includes(kind) || pattern === '*' || pattern.startsWith(stdio)) {
    return globMatcher(pattern)
  }
  return pattern.includes('://') ? urlMatcher(pattern) : hostMatcher(pattern)
}

/** `*` stands for any characters, also for none. Takes a time that is linear in name and pattern. */
function globMatcher(pattern: string): NameMatcher {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (name) => name === head
  return (name) => {
    if (!name.startsWith(head) || name.length < head.length + tail.length) return false
    if (!name.endsWith(tail)) return false
    const end = name.length - tail.length
    let from = head.length
    for (const part of rest) {
      const at = name.indexOf(part, from)
      if (at < 0 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}

function hostMatcher(pattern: string): NameMatcher {
  const covers = hostList([pattern])
  return (name) => {
    const host = normalHost(URL.parse(name)?.hostname ?? '')
    return host !== undefined && covers(host)
  }
}

/** A separator that a server may decode, so that the path is another than it seems. */
const hiddenSeparator = /%(2f|5c)/i

function urlMatcher(pattern: string): NameMatcher {
  const wanted = new URL(pattern)
  const covers = wanted.hostname.startsWith('*.')
    ? hostList([wanted.hostname])
    : (host: string) => host === wanted.hostname
  const path = wanted.pathname.replace(/\/$/, '')
  return (name) => {
    const url = URL.parse(name)
    if (!url || url.protocol !== wanted.protocol || url.port !== wanted.port) return false
    if (!covers(url.hostname)) return false
    if (path === '') return true
    const { pathname } = url
    if (hiddenSeparator.test(pathname)) return false
    return pathname === path || pathname.startsWith(`${path}/`)
  }
}
