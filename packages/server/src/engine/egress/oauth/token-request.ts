/** A refresh request to an authorization server. RFC 6749 2.3.1, 5, 6; RFC 8707 */
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import type { Connector } from '../../../ground/core/security/dial.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { headerValue } from '../inject/headers.ts'
import { createUpstream } from '../inject/upstream.ts'

const tokenRequestMs = 10_000
const largestAnswer = 64 * 1024

export type TokenRequest = {
  token_endpoint: string
  client_id: string | null
  /** SECRET: never logged. Null for a public client. */
  client_secret: string | null
  authentication: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** SECRET: never logged. */
  refresh_token: string
  resource: string | null
  scope: string | null
}

/** SECRET: never logged, neither the tokens nor the body. */
export type TokenAnswer =
  | { ok: true; access_token: string; refresh_token: string | null; expires_at: string | null }
  /** The server answered without a token. `body` is the server's, and may repeat parts of the request. */
  | { ok: false; status: number; contentType: string | null; body: string; isRefused: boolean }
  /** The server did not answer, or broke off. */
  | { ok: false; status: null; message: string; isRefused: false }

/** Uses a connection of its own, shared with no other tenant's request. */
export async function askForToken(
  request: TokenRequest,
  {
    connect,
    clock,
    timeoutMs = tokenRequestMs,
  }: { connect: Connector<'tenant'>; clock: Clock; timeoutMs?: number },
): Promise<TokenAnswer> {
  const line = createUpstream(connect)
  try {
    const { headers, body } = formOf(request)
    const signal = AbortSignal.timeout(timeoutMs)
    const url = new URL(request.token_endpoint)
    const answer = await line.send({ method: 'POST', url, headers, body, signal })
    const bytes: Buffer[] = []
    let length = 0
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > largestAnswer)
        throw new Error('the token endpoint answers at too great a length')
      bytes.push(chunk)
    }
    const text = Buffer.concat(bytes).toString('utf8')
    const contentType = headerValue(answer.headers, 'content-type') ?? null
    return readAnswer({ status: answer.status, contentType, text }, clock.now())
  } catch (error) {
    return { ok: false, status: null, message: (error as Error).message, isRefused: false }
  } finally {
    await line.close()
  }
}

function formOf(request: TokenRequest): { headers: HeaderPairs; body: Buffer } {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: request.refresh_token,
  })
  const headers: HeaderPairs = [
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Accept', 'application/json'],
  ]
  const { client_id, client_secret, authentication } = request
  if (authentication === 'client_secret_basic') {
    const pair = [client_id ?? '', client_secret ?? ''].map(formEncoded).join(':')
    headers.push(['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`])
  } else if (client_id !== null) form.set('client_id', client_id)
  if (authentication === 'client_secret_post') form.set('client_secret', client_secret ?? '')
  if (request.resource) form.set('resource', request.resource)
  if (request.scope) form.set('scope', request.scope)
  const body = Buffer.from(form.toString())
  headers.push(['Content-Length', String(body.length)])
  return { headers, body }
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

function readAnswer(
  answer: { status: number; contentType: string | null; text: string },
  now: number,
): TokenAnswer {
  const { status, contentType, text } = answer
  const said = fields(text)
  const { access_token, refresh_token, expires_in } = said
  const isFine = status >= 200 && status < 300
  if (!isFine || typeof access_token !== 'string' || access_token === '') {
    // Some servers refuse with status 200.
    const isRefused = said['error'] === 'invalid_grant' || status === 400 || status === 401
    return { ok: false, status, contentType, body: text, isRefused }
  }
  const seconds = Number(expires_in)
  const lasts = expires_in !== undefined && expires_in !== null && Number.isFinite(seconds)
  return {
    ok: true,
    access_token,
    refresh_token: typeof refresh_token === 'string' && refresh_token ? refresh_token : null,
    expires_at: lasts ? iso(now + Math.min(Math.max(seconds, 0), 10 * 365 * 86_400) * 1000) : null,
  }
}

/** Parses JSON, or a form: a few servers answer with a form whatever the request accepts. */
function fields(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}
