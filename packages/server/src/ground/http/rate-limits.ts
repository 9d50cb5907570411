/** Counts requests against rate limits and shows the limits in the headers of answers. */
import type { ServerResponse } from 'node:http'
import { RateLimitError } from '../core/errors.ts'
import type { Rate, RateClass, RequestClass } from '../core/fairness/rates.ts'
import { unitOf } from '../core/fairness/rates.ts'
import { requestLimited } from './limit-observation.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

/** The verdict of a token bucket on one request. */
export type Verdict = {
  isAdmitted: boolean
  rate: Rate
  /** Requests left after this one. An estimate with several processes. */
  remaining: number
  /** When the bucket is full again, in ms since the epoch. */
  fullAtMs: number
  /** Milliseconds until the next attempt. 0 for an admitted request. */
  retryMs: number
}

export type RateLimits = {
  /** Counts a request of the tenant. Undefined: no limit. Returns no promise when the counter is in memory. */
  count(tenant: string, of: RequestClass): Verdict | undefined | Promise<Verdict | undefined>
  /** Like `count`, without counting. */
  peekLimit(tenant: string, of: RequestClass): Verdict | undefined
}

/** The class of a route's requests. A route that is never limited shows the limit of its method. */
export function requestClassOf({ method, counted }: Route): RequestClass {
  if (counted && counted !== 'never') return counted
  return method === 'get' ? 'reads' : 'writes'
}

/** Claims and MCP tokens are not counted: they belong to a running turn, and a limited worker would lose its lease. */
const isCounted = (route: Route, { kind }: Principal): boolean =>
  route.counted !== 'never' && kind !== 'claim' && kind !== 'mcp'

/** Counts a request of the route once, and sets the headers of its limits on any answer. */
export function createRequestCounting(
  limits: RateLimits | undefined,
  request: LimitedRequest,
): RequestCounting {
  return limits ? countingBy(limits, request) : uncounted
}

/** `headersOf`: the headers that show a verdict. */
type LimitedRequest = {
  route: Route
  outgoing: ServerResponse
  headersOf: (verdict: Verdict) => Readonly<Record<string, string>>
}

/** The tenant, or the person when no workspace is chosen. */
const countedAs = (principal: Principal): string =>
  principal.kind === 'user' && principal.tenant === '' ? principal.userId : principal.tenant

type RequestCounting = {
  /** Call it as soon as the caller is known. */
  begin: (principal: Principal) => void | Promise<void>
  /** Counts what `begin` left to the body: a body that cannot be parsed counts too. */
  withBody: (principal: Principal, parse: () => Promise<unknown>) => Promise<unknown>
}

const uncounted: RequestCounting = { begin: () => {}, withBody: (_, parse) => parse() }

function countingBy(
  limits: RateLimits,
  { route, outgoing, headersOf }: LimitedRequest,
): RequestCounting {
  const of = requestClassOf(route)

  function count(principal: Principal): void | Promise<void> {
    const verdict = limits.count(countedAs(principal), of)
    if (verdict instanceof Promise) return verdict.then(judge)
    judge(verdict)
  }

  function judge(verdict: Verdict | undefined): void {
    show(verdict)
    if (verdict && !verdict.isAdmitted) throw rateLimitError(verdict, of, 'this workspace')
  }

  function show(verdict: Verdict | undefined): void {
    if (!verdict) return
    for (const [name, value] of Object.entries(headersOf(verdict))) outgoing.setHeader(name, value)
  }

  return {
    begin(principal) {
      if (route.isUncounted || !isCounted(route, principal))
        return show(limits.peekLimit(countedAs(principal), of))
      return count(principal)
    },
    async withBody(principal, parse) {
      if (!route.isUncounted || !isCounted(route, principal)) return parse()
      const parsed = await parse().catch(async (error: unknown) => {
        await count(principal)
        throw error
      })
      if (!route.isUncounted(parsed)) await count(principal)
      return parsed
    },
  }
}

const nouns: Record<RateClass, string> = {
  reads: 'reads',
  writes: 'writes',
  sessions: 'new sessions',
  uploads: 'uploads',
  messages: 'requests of messages',
  sign_in: 'attempts to sign in',
  mail: 'mails',
  failures: 'failed authentications',
}

/** `whose`: completes "the limit of …". */
export function rateLimitError({ rate, retryMs }: Verdict, of: RateClass, whose: string) {
  requestLimited.tell({ of })
  const seconds = Math.max(1, Math.ceil(retryMs / 1_000))
  const limit = `${rate.limit} ${nouns[of]} a ${unitOf(rate)}`
  const again = seconds === 1 ? '1 second' : `${seconds} seconds`
  return new RateLimitError(`the limit of ${whose} is ${limit}: try again in ${again}`, seconds)
}
