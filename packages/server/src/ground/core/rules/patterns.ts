/** Patterns of allow-lists: hosts, beginnings of URLs, and names with `*`. */
import { hostList, normalHost } from '@steward/gate/policy.ts'
import type { RuleKind } from '@steward/protocol/rules.ts'
import { globMatcher } from '../text/glob.ts'

export type NameMatcher = (name: string) => boolean

const urlKinds: readonly RuleKind[] = ['mcp_servers', 'webhooks']
const stdio = 'stdio:'

/** The name under which lists of MCP servers have a server that a worker starts. */
export const stdioName = (server: string): string => stdio + server

const endpoint = '//'

/** The name under which lists have a model at an endpoint that a card names. No pattern of names alone matches it. */
export const nameAtEndpoint = (host: string, model: string): string => endpoint + host + '/' + model

/** A name as people read it. */
export const shownName = (name: string): string =>
  name.startsWith(endpoint) ? name.slice(endpoint.length) : name

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
  if (kind === 'models' && pattern !== '*') return modelMatcher(pattern)
  if (!urlKinds.includes(kind) || pattern === '*' || pattern.startsWith(stdio)) {
    return globMatcher(pattern)
  }
  return pattern.includes('://') ? urlMatcher(pattern) : hostMatcher(pattern)
}

/**
 * Attack: a host may begin with the name of a model that is allowed, or end with it. At an endpoint of its own a model is
 * matched by a host, or by `*.` and a host, before the first slash.
 */
function modelMatcher(pattern: string): NameMatcher {
  const named = globMatcher(pattern)
  const [host, model] = atSlash(pattern)
  const wanted = host.toLowerCase()
  const covers = wanted.startsWith('*.')
    ? (given: string) => given.endsWith(wanted.slice(1))
    : (given: string) => given === wanted
  const fits = globMatcher(model)
  return (name) => {
    if (!name.startsWith(endpoint)) return named(name)
    const [given, rest] = atSlash(name.slice(endpoint.length))
    return covers(given) && fits(rest)
  }
}

function atSlash(text: string): [before: string, behind: string] {
  const at = text.indexOf('/')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
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
