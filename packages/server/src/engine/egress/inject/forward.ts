/**
 * Forwards a call to its upstream: checks the rules, adds the credential, sends, repeats once with a new token, masks
 * the answer, records the use. It alone asks for the secrets of a call; `plan.ts` writes them into headers, and
 * `placeholder.ts` in place of placeholders.
 */
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { OutboundAnswer, HeaderPairs, UpgradedConnection } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { TurnNotice } from '@steward/harness/turn.ts'
import type { Mask } from '@steward/mask/mask.ts'
import type { Clock } from '@steward/base/time.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { isOAuth } from '../policy/credential.ts'
import type { RepositoryToken } from '../policy/repository.ts'
import type { OutboundCaller } from '../policy/rules.ts'
import { refusalError, toGateTarget } from '../policy/rules.ts'
import type { OutboundContext } from './context.ts'
import { withHeader, headerValue, dropHeaders } from './headers.ts'
import type { CredentialOpener } from './open-credentials.ts'
import { UnreadableSecretError, hasReference } from './open-credentials.ts'
import { carriesPlaceholder, derivePlaceholder, exchangeInBody, watchBody } from './placeholder.ts'
import type { Credentials, CredentialPlan } from './plan.ts'
import { createSecretLookup, credentialPlan, secretsOfPlan, withCredential } from './plan.ts'
import type { CallEnd, CredentialUse, Records } from './records.ts'
import { largestReplay, replayableBody } from './replay.ts'
import { filterStream } from './answer-filter.ts'
import type { UpstreamRequest, Upstream } from './upstream.ts'

/** One call of the session that the context names. */
export type OutboundCall = {
  caller: OutboundCaller
  /** The MCP server's name, or the host. */
  server: string
} & (CallOfTenant | CallOfOperator)

type CallOfTenant = {
  namer: 'tenant'
  credentials: Credentials
  /** The URL of an MCP server, which finds its credential. */
  named?: URL
  /** SECRET: never logged. The inline token of an MCP server. */
  inline?: string | undefined
}
/** A call to an endpoint that the operator names. It never carries a tenant's credential. */
type CallOfOperator = { namer: 'operator'; credentials: 'none'; named?: never; inline?: never }

/** Supplies tokens that expire, and tokens that a secret manager may have rotated. */
export type CallTokens = {
  /**
   * The token for the first attempt. An expired token is renewed first; a token that expires soon is renewed in the
   * background.
   */
  ahead(row: CredentialRow, token: string): Promise<TokenAhead>
  /** A token other than `token`, which the upstream has refused. */
  after(
    row: CredentialRow,
    token: string,
    session: string,
  ): Promise<{ ok: true; token: string; refreshed: boolean } | { ok: false }>
}

export type TokenAhead = {
  /** SECRET: never logged. */
  token: string
  /** True when this call made the refresh. */
  refreshed: boolean
  /** True when another refresh would give no other token. */
  tried: boolean
}

export type ForwardDeps = {
  clock: Clock
  open: CredentialOpener['all']
  openToken: (row: RepositoryToken) => string
  maskOf: (secrets: readonly string[]) => Mask | undefined
  /** SECRET: never logged. */
  placeholderKey: Buffer
  tokens: CallTokens
  records: Records
}

export type Forward = ReturnType<typeof createForward>

/** A placeholder leaves unchanged over plain http. The session's log gets one notice about it for each host. */
function watchPlaceholders(
  records: Records,
  request: UpstreamRequest,
  context: OutboundContext,
): UpstreamRequest {
  const { url, body } = request
  if (url.protocol !== 'http:') return request
  const leave = () => {
    if (records.leftInClear(context, url.hostname)) context.notify(clearNotice(url.hostname))
  }
  if (carriesPlaceholder(request)) leave()
  return { ...request, body: body && watchBody(body, leave) }
}

export function createForward(deps: ForwardDeps) {
  const { open, openToken, maskOf, placeholderKey, tokens } = deps

  async function planFor(
    context: OutboundContext,
    { url }: UpstreamRequest,
    call: OutboundCall,
  ): Promise<CredentialPlan> {
    const { tenant, session } = context
    context.rules.judge(url, call.caller)
    const holdings = await context.readCredentials(toGateTarget(url))
    try {
      return await credentialPlan(holdings, {
        url: call.named ?? url,
        credentials: call.credentials,
        inline: call.inline,
        // Where an MCP server is tried, there is no session.
        open: (row) => open(row, session || null),
        openToken,
        placeholder: ({ id }) =>
          derivePlaceholder(placeholderKey, { tenant, session, credential: id }),
      })
    } catch (cause) {
      throw vaultRefusal(url, cause)
    }
  }

  async function forward(
    request: UpstreamRequest,
    context: OutboundContext,
    call: OutboundCall,
  ): Promise<OutboundAnswer> {
    return withRecord(deps, { context, request, call }, async (used, result) => {
      const upstream = context.pool[call.namer]
      const plan = await planFor(context, request, call)
      const { chosen } = plan
      if (plan.token !== undefined) used(chosen?.row)
      const prepared = await withBody(watchPlaceholders(deps.records, request, context), plan, used)
      if (!chosen || !mayRenew(chosen.row)) {
        return upstream.send(withToken(prepared, plan, { used }), maskOf(secretsOfPlan(plan)))
      }
      return renewing({ request: prepared, plan, row: chosen.row, context, used, upstream, result })
    })
  }

  /**
   * Sends with a token that may expire. Repeats once with another token when the answer says that the token has
   * expired.
   */
  async function renewing({ request, plan, row, context, used, upstream, result }: RenewContext) {
    const ahead = await tokens.ahead(row, plan.token ?? '')
    result.refreshed = ahead.refreshed
    const secrets = [...secretsOfPlan(plan), ahead.token]
    const replay = isStream(request.body) ? replayableBody(request.body) : undefined
    const first = await upstream.send(
      withToken({ ...request, body: replay?.first ?? request.body }, plan, {
        used,
        token: ahead.token,
      }),
      maskOf(secrets),
    )
    try {
      if (!hasExpired(first) || ahead.tried) return first
      const next = await tokens.after(row, ahead.token, context.session)
      if (!next.ok) return first
      result.refreshed = next.refreshed
      const body = replay ? await replay.again() : request.body
      if (body === undefined) return first
      first.body.destroy()
      const again = { ...request, body, headers: withLength(request.headers, body) }
      return await upstream.send(
        withToken(again, plan, { used, token: next.token }),
        maskOf([...secrets, next.token]),
      )
    } catch (error) {
      first.body.destroy()
      throw error
    } finally {
      replay?.settle()
    }
  }

  return {
    forward,
    async upgrade(
      request: UpstreamRequest,
      context: OutboundContext,
      call: OutboundCall,
    ): Promise<OutboundAnswer | UpgradedConnection> {
      return withRecord(deps, { context, request, call }, async (used, result) => {
        const protocol = headerValue(request.headers, 'upgrade') ?? 'websocket'
        const plan = await planFor(context, request, call)
        watchPlaceholders(deps.records, request, context)
        const { row } = plan.chosen ?? {}
        if (plan.token !== undefined) used(row)
        let { token } = plan
        if (row && isOAuth(row) && token !== undefined) {
          const ahead = await tokens.ahead(row, token)
          result.refreshed = ahead.refreshed
          token = ahead.token
        }
        const mask = maskOf([...secretsOfPlan(plan), ...(token === undefined ? [] : [token])])
        const sent = withToken(request, plan, { used, token })
        // Compressed frames could not be masked.
        const headers = mask ? dropHeaders(sent.headers, 'sec-websocket-extensions') : sent.headers
        return context.pool[call.namer].upgrade({ ...sent, headers }, protocol, mask)
      })
    },
  }
}

/** Runs the call and writes exactly one record of its end, also when it fails. */
async function withRecord<T extends OutboundAnswer | UpgradedConnection>(
  { records, clock }: ForwardDeps,
  {
    context,
    request,
    call,
  }: { context: OutboundContext; request: UpstreamRequest; call: OutboundCall },
  send: (used: NoteUse, result: ForwardResult) => Promise<T>,
): Promise<T> {
  const { tenant, session } = context
  const { method, url, signal } = request
  const { caller, server } = call
  const began = clock.now()
  const about = { tenant, session, caller, server, host: url.hostname, method }
  const uses = new Map<string, CredentialUse>()
  const result: ForwardResult = { refreshed: false }
  let ended: CallEnd | undefined
  const used: NoteUse = (row) => {
    const id = row?.id ?? ''
    if (uses.has(id)) return
    const use = records.begin(about, row ?? null)
    uses.set(id, use)
    // In a body that streams, a placeholder may come behind the head of the answer.
    if (ended) use.end(ended)
  }
  const end = (status: number, refusal?: RequestRefused) => {
    ended = { status, refreshed: result.refreshed, ms: clock.now() - began }
    for (const use of uses.values()) use.end(ended)
    records.ended(about, ended, refusal?.refusal)
  }
  try {
    const answer = await send(used, result)
    const stream = 'socket' in answer ? answer.socket : answer.body
    try {
      await Promise.all([...uses.values()].map(({ durable }) => durable))
      if (stream.destroyed) throw stream.errored ?? new Error('the upstream broke off')
    } catch (error) {
      stream.destroy()
      throw error
    }
    end(answer.status)
    return answer
  } catch (error) {
    if (error instanceof RequestRefused) end(error.refusal.reason === 'vault' ? 503 : 403, error)
    else end(signal.aborted ? 499 : 502)
    throw error
  }
}

type ForwardResult = { refreshed: boolean }
type NoteUse = (row: CredentialRow | undefined) => void
type RenewContext = {
  request: UpstreamRequest
  plan: CredentialPlan
  row: CredentialRow
  context: OutboundContext
  used: NoteUse
  upstream: Upstream
  result: ForwardResult
}

const unreadable = 'a credential for this host could not be read'
const vaultRefusal = (url: URL, cause: unknown): RequestRefused =>
  Object.assign(
    refusalError(
      toGateTarget(url),
      'vault',
      cause instanceof UnreadableSecretError ? cause.message : unreadable,
    ),
    { cause },
  )

/** True for a token that another one may take the place of while the session runs. */
const mayRenew = (row: CredentialRow): boolean => isOAuth(row) || hasReference(row)

const isStream = (body: UpstreamRequest['body']): body is Readable =>
  body !== null && 'pipe' in body

const clearNotice = (host: string): TurnNotice => ({
  reason: 'egress_in_clear',
  message: `egress warning: a placeholder went to ${host} over plain http, as it is: it is exchanged for its secret over https alone`,
  told: true,
})

function withToken(
  request: UpstreamRequest,
  plan: CredentialPlan,
  how: { token?: string | undefined; used: NoteUse },
): UpstreamRequest {
  const headers = withCredential(request.headers, plan, how)
  const isMasked = plan.token !== undefined || plan.variables.length > 0
  return {
    ...request,
    // No ranges: part of an answer could begin or end within a secret. No compression: a compressed answer could not be
    // masked.
    headers: isMasked
      ? withHeader(dropHeaders(headers, 'range', 'if-range'), 'Accept-Encoding', 'identity')
      : headers,
  }
}

/**
 * The request with the placeholders in its body exchanged. A body with an announced length of up to 1 MiB is read
 * first, to announce its new length. Any other body streams in chunks.
 */
async function withBody(
  request: UpstreamRequest,
  plan: CredentialPlan,
  used: NoteUse,
): Promise<UpstreamRequest> {
  const secrets = createSecretLookup(plan, 'body', used)
  const { body, headers } = request
  if (!secrets || body === null) return request
  const filter = exchangeInBody(secrets)
  const announced = Number(headerValue(headers, 'content-length') ?? Number.NaN)
  if (isStream(body) && !(announced <= largestReplay)) {
    // The errors of `body` appear on `out`, which the request listens to.
    const out = filterStream(filter)
    body.once('error', (error) => out.destroy(error)).pipe(out)
    out.once('close', () => body.destroy())
    return { ...request, body: out, headers: dropHeaders(headers, 'content-length') }
  }
  const came = isStream(body) ? await buffer(body) : body
  const bytes = Buffer.concat([filter.write(came), filter.end()])
  return { ...request, body: bytes, headers: withLength(headers, bytes) }
}

const withLength = (headers: HeaderPairs, body: Buffer | Readable | null): HeaderPairs =>
  Buffer.isBuffer(body) ? withHeader(headers, 'Content-Length', String(body.length)) : headers

/** True for 401, and for a 403 whose header blames the token. RFC 6750 3.1 */
export const hasExpired = ({ status, headers }: OutboundAnswer): boolean =>
  status === 401 ||
  (status === 403 &&
    headers.some(
      ([name, value]) =>
        name.toLowerCase() === 'www-authenticate' && /error="?invalid_token\b/i.test(value),
    ))
