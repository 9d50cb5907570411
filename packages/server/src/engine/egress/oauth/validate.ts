/** Tests whether an OAuth credential works by a request to its MCP server. */
import type { OutboundAnswer, HeaderPairs } from '@steward/gate/outbound.ts'
import { createMask } from '@steward/mask/mask.ts'
import type { Validation } from '@steward/protocol/credential-validation.ts'
import type { Connector } from '../../../ground/core/security/dial.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { isOAuth } from '../policy/credential.ts'
import { hasExpired } from '../inject/forward.ts'
import type { CredentialOpener } from '../inject/open-credentials.ts'
import { UnreadableSecretError } from '../inject/open-credentials.ts'
import { headerValue } from '../inject/headers.ts'
import type { Refresh, RefreshOutcome } from './refresh.ts'
import { createUpstream } from '../inject/upstream.ts'

const patienceMs = 10_000
/** Largest part of an answer's body to show, in bytes. */
const mostShown = 4096

type Response = NonNullable<Validation['mcp_probe']>['http_response']
type CredentialProbe = { verdict: 'valid' | 'expired' | 'invalid' | 'unknown'; response: Response }

type ValidateDeps = {
  connect: Connector<'tenant'>
  refresh: Refresh
  open: CredentialOpener['all']
}

export async function validateCredential(
  { connect, refresh, open }: ValidateDeps,
  row: CredentialRow,
  signal: AbortSignal,
): Promise<Validation> {
  if (!isOAuth(row)) throw new Error('only OAuth credentials are tried')
  const secrets = await open(row, null).catch((error: unknown) => {
    if (error instanceof UnreadableSecretError) return undefined
    throw error
  })
  // Without the secret of its client, no answer that repeats it could be masked.
  if (!secrets)
    return result({ verdict: 'unknown', response: null }, row.auth.refresh !== null, null)
  const token = secrets.access_token ?? ''
  const has_refresh_token = secrets.refresh_token !== undefined && row.auth.refresh !== null
  const ask = (each: string) =>
    probe({ connect, signal }, row.auth.mcp_server_url, [each, ...Object.values(secrets)])
  const first = await ask(token)
  if (first.verdict !== 'expired') return result(first, has_refresh_token, null)
  if (!has_refresh_token) {
    const none = { status: 'no_refresh_token', http_response: null } as const
    return result({ ...first, verdict: 'invalid' }, false, none)
  }
  const renewed = await refresh.after(row, token)
  const told = refreshOf(renewed, Object.values(secrets))
  if (renewed.ok) {
    const second = await ask(renewed.token)
    const verdict = second.verdict === 'expired' ? 'invalid' : second.verdict
    return result({ ...second, verdict }, true, told)
  }
  const isKnown = renewed.why === 'failed' && renewed.answer.isRefused
  return result({ ...first, verdict: isKnown ? 'invalid' : 'unknown' }, true, told)
}

const result = (
  { verdict, response }: CredentialProbe,
  has_refresh_token: boolean,
  refresh: Validation['refresh'],
): Validation => ({
  status: verdict === 'expired' ? 'invalid' : verdict,
  has_refresh_token,
  mcp_probe: verdict === 'valid' ? null : { method: 'initialize', http_response: response },
  refresh,
})

const initialize = Buffer.from(
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'steward', version: '1' },
    },
  }),
)

async function probe(
  { connect, signal }: { connect: Connector<'tenant'>; signal: AbortSignal },
  url: string,
  [token = '', ...secrets]: string[],
): Promise<CredentialProbe> {
  const line = createUpstream(connect)
  const headers: HeaderPairs = [
    ['Authorization', `Bearer ${token}`],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['Accept-Encoding', 'identity'],
    ['Content-Length', String(initialize.length)],
  ]
  try {
    const answer = await line.send(
      {
        method: 'POST',
        url: new URL(url),
        headers,
        body: initialize,
        signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
      },
      createMask([token, ...secrets]),
    )
    const verdict = verdictOf(answer)
    if (verdict === 'valid') return { verdict, response: null }
    return { verdict, response: await responseOf(answer) }
  } catch {
    // The server was not reached in time. The result says no more about the network.
    return { verdict: 'unknown', response: null }
  } finally {
    await line.close()
  }
}

function verdictOf(answer: OutboundAnswer): CredentialProbe['verdict'] {
  if (answer.status >= 200 && answer.status < 300) return 'valid'
  if (hasExpired(answer)) return 'expired'
  return answer.status === 403 ? 'invalid' : 'unknown'
}

async function responseOf({ status, headers, body }: OutboundAnswer): Promise<Response> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostShown) break
  }
  return boundedResponse(status, headerValue(headers, 'content-type'), Buffer.concat(chunks))
}

const boundedResponse = (
  status_code: number,
  content_type: string | null | undefined,
  bytes: Buffer,
) => ({
  status_code,
  content_type: content_type ?? '',
  body: bytes.subarray(0, mostShown).toString('utf8'),
  body_truncated: bytes.length > mostShown,
})

function refreshOf(renewed: RefreshOutcome, secrets: string[]): Validation['refresh'] {
  if (renewed.ok) return { status: 'succeeded', http_response: null }
  if (renewed.why === 'no_refresh_token') return { status: renewed.why, http_response: null }
  if (renewed.why !== 'failed' || renewed.answer.status === null)
    return { status: 'connect_error', http_response: null }
  const { status, contentType, body } = renewed.answer
  const mask = createMask(secrets)
  const bytes = Buffer.from(mask?.text(body) ?? body)
  const type = contentType && (mask?.header(contentType) ?? contentType)
  return { status: 'failed', http_response: boundedResponse(status, type, bytes) }
}
