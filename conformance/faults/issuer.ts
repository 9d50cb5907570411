/**
 * An API that accepts one token and the authorization server that issues it, on one port, for tests that kill servers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { upstreamServer } from '@steward/server/engine/egress/fixture.ts'

/** The answer to the next token request. */
type TokenReply =
  /** The token is issued and sent. */
  | 'answer'
  /** No token is issued, and no answer is sent. */
  | 'silence'
  /** The token is issued. The answer lacks its last byte, which never comes. */
  | 'all but the end'

export type FaultyIssuer = TestUpstream & {
  state: {
    next: TokenReply
    /** True: the previous refresh token stays valid until the access token issued for it is used. */
    reuse: boolean
    /** Answers of the API wait for this promise. */
    gate: Promise<void>
    asked: string[]
    used: (string | undefined)[]
  }
  /** Resolves at the next token request, after the action of `next`. */
  askedNext(): Promise<void>
  /** Resolves at the next API request with a valid token. */
  usedNext(): Promise<void>
}

export const firstTokens = { access: 'access-0-of-faults', refresh: 'refresh-0-of-faults' }

/** `auth.example` issues tokens. Every other name is the API. */
export async function issuer(): Promise<FaultyIssuer> {
  const state: FaultyIssuer['state'] = {
    next: 'answer',
    reuse: true,
    gate: Promise.resolve(),
    asked: [],
    used: [],
  }
  let issued = 0
  let valid = 'none yet'
  let good: string[] = [firstTokens.refresh]
  let [onAsked, onUsed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = new URLSearchParams(await text(request)).get('refresh_token') ?? ''
    state.asked.push(given)
    const { next } = state
    state.next = 'answer'
    if (next !== 'silence') await issue(given, response, next)
    onAsked.resolve()
  }

  async function issue(given: string, response: ServerResponse, next: TokenReply): Promise<void> {
    if (!good.includes(given)) {
      response.writeHead(400, { 'content-type': 'application/json' })
      return void response.end('{"error":"invalid_grant"}')
    }
    issued++
    valid = `access-${issued}-of-faults`
    const refresh = `refresh-${issued}-of-faults`
    good = state.reuse ? [given, refresh] : [refresh]
    const body = JSON.stringify({ access_token: valid, refresh_token: refresh, expires_in: 3600 })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    if (next === 'answer') return void response.end(body)
    await new Promise((resolve) => response.write(body.slice(0, -1), resolve))
  }

  async function api(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers
    request.resume()
    state.used.push(authorization)
    const isGood = authorization === `Bearer ${valid}`
    if (isGood) {
      good = good.slice(-1)
      onUsed.resolve()
      await state.gate
    }
    response.writeHead(isGood ? 200 : 401).end(isGood ? 'welcome' : 'who are you')
  }

  const server = await upstreamServer((request, response) =>
    request.headers.host === 'auth.example' ? token(request, response) : api(request, response),
  )
  return {
    ...server,
    state,
    askedNext: () => (onAsked = Promise.withResolvers<void>()).promise,
    usedNext: () => (onUsed = Promise.withResolvers<void>()).promise,
  }
}
