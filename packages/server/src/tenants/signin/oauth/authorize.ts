/** What a client asks for in the address of the page of consent. RFC 6749 4.1.1, RFC 7636 4.3 */
import type { OAuthClient, OAuthClients } from './clients.ts'
import type { OAuthErrorCode } from './refusal.ts'

export type AuthorizeRequest = {
  client: OAuthClient
  redirectUri: string
  state: string | null
  challenge: string
  scope: string
  /** The workspace that the client asks for. */
  workspace: string | null
}

/** `unsafe`: nobody is redirected, because where to is not known to be the client's. */
export type AuthorizeReading =
  | { is: 'request'; request: AuthorizeRequest }
  | { is: 'refused'; redirect: string }
  | { is: 'unsafe'; why: string }

const longest = { state: 1_000, scope: 1_000, redirect_uri: 2_000 }

/** The address of the client, with what it is told. A query that the address has already stays. */
export function clientAddress(uri: string, told: Record<string, string | null>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(told))
    if (value !== null) url.searchParams.append(name, value)
  return url.href
}

const challengePattern = /^[\w-]{43}$/

/** `own`: the base URL of this service, as the browser has it. */
export function readAuthorizeRequest(
  search: URLSearchParams,
  clients: OAuthClients,
  own: string,
): AuthorizeReading {
  const client = clients.find(search.get('client_id') ?? '')
  if (!client)
    return {
      is: 'unsafe',
      why: 'client_id: is no client that this server knows: its operator names clients in OAUTH_CLIENTS',
    }
  const redirectUri = search.get('redirect_uri') ?? ''
  if (redirectUri.length > longest.redirect_uri || !clients.mayRedirect(client, redirectUri, own))
    return {
      is: 'unsafe',
      why: `redirect_uri: is none of ${client.name}: it must be on this computer, or named in OAUTH_CLIENTS`,
    }
  const state = search.get('state')
  const refused = (error: OAuthErrorCode, error_description: string): AuthorizeReading => ({
    is: 'refused',
    redirect: clientAddress(redirectUri, { error, error_description, state, iss: own }),
  })
  if (search.get('response_type') !== 'code')
    return refused('unsupported_response_type', 'response_type: must be code')
  if (search.get('code_challenge_method') !== 'S256')
    return refused('invalid_request', 'code_challenge_method: must be S256')
  const challenge = search.get('code_challenge') ?? ''
  if (!challengePattern.test(challenge))
    return refused('invalid_request', 'code_challenge: must be a SHA-256 in Base64url')
  const scope = search.get('scope') ?? ''
  if ((state ?? '').length > longest.state || scope.length > longest.scope)
    return { is: 'unsafe', why: 'state, scope: must not be longer than 1000 characters' }
  const workspace = search.get('workspace_id')
  return { is: 'request', request: { client, redirectUri, state, challenge, scope, workspace } }
}
