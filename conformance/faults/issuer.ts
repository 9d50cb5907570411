/** An API that takes one token, and the authorisation server that gives it, at one port: for servers that are killed. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { upstreamServer } from '@steward/server/engine/egress/fixture.ts'

/** What happens at the next request for a token. */
type TokenReply =
  /** It is answered. */
  | 'answer'
  /** It is not, and nothing is issued. */
  | 'silence'
  /** The answer lacks its last byte, and nothing more comes. */
  | 'all but the end'

export type FaultyIssuer = TestUpstream & {
  state: {
    next: TokenReply
    /** The refresh token of before is taken as long as the access token issued for it was not used. */
    reuse: boolean
    /** Answers of the API wait for this. */
    gate: Promise<void>
    asked: string[]
    used: (string | undefined)[]
  }
  /** Resolves at the next request for a token, after what `next` says has been done. */
  askedNext(): Promise<void>
  /** Resolves when the API is asked with the token that it takes. */
  usedNext(): Promise<void>
}

export const firstTokens = { access: 'access-0-of-faults', refresh: 'refresh-0-of-faults' }

/** `auth.example` gives tokens, every other name takes them. */
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
