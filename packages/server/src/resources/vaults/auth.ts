/** Splits a credential that a caller sends into its purpose and its secrets. [service/vaults/kinds] */
import { createHash } from 'node:crypto'
import type { AuthCreate, AuthUpdate } from '@steward/protocol/credential-auth.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import { invalid } from '../../ground/core/errors.ts'
import { knownClis } from './clis.ts'
import type { GivenSecret } from './references.ts'
import { changedClient, referenceIn, shownClient } from './references.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'

/** SECRET: never logged. */
export type CredentialSecrets = Partial<Record<SecretPart, string>>

/** SECRET: never logged. Seal `secrets` at once. Stored secrets stay, except those in `dropped`. */
export type WrittenAuth = {
  auth: CredentialAuth
  secrets: CredentialSecrets
  dropped: readonly SecretPart[]
}

const written = (
  auth: CredentialAuth,
  secrets: CredentialSecrets,
  dropped: SecretPart[] = [],
): WrittenAuth => ({
  auth,
  secrets,
  dropped,
})

/** A value is sealed. A reference takes the place of the value that was sealed before. */
const writtenSecret = (auth: CredentialAuth, part: SecretPart, given: GivenSecret): WrittenAuth =>
  typeof given === 'string' ? written(auth, { [part]: given }) : written(auth, {}, [part])

/** `at` names the field in messages. */
export function splitAuth(input: AuthCreate, at: string, now: number): WrittenAuth {
  switch (input.type) {
    case 'static_bearer': {
      const { token, ...auth } = input
      return writtenSecret({ ...auth, ...referenceIn('token', token) }, 'token', token)
    }
    case 'mcp_oauth':
      return writtenOAuth(input, at, now)
    case 'cap_cli': {
      const { token, ...auth } = input
      if (!Object.hasOwn(knownClis, auth.cli_id)) {
        const known = Object.keys(knownClis).join(', ')
        // The value may be a misplaced token, so it is not repeated.
        const name = /^[a-z-]{1,32}$/.test(auth.cli_id) ? auth.cli_id : 'this'
        throw invalid(`${at}.cli_id: ${name} is not known here; known: ${known}`)
      }
      return writtenSecret({ ...auth, ...referenceIn('token', token) }, 'token', token)
    }
    case 'command_secret': {
      const { token, ...auth } = input
      return writtenSecret({ ...auth, ...referenceIn('token', token) }, 'token', token)
    }
    case 'environment_variable': {
      const { secret_value: value, ...auth } = input
      const reference = referenceIn('secret_value', value)
      return writtenSecret({ ...auth, ...reference }, 'secret_value', value)
    }
    case 'agent_identity':
      return written({ ...input, mcp_server_url: input.mcp_server_url ?? null }, {})
  }
}

type OAuthInput = Extract<AuthCreate, { type: 'mcp_oauth' }>

function writtenOAuth(input: OAuthInput, at: string, now: number): WrittenAuth {
  const { type, access_token, mcp_server_url } = input
  const given = input.refresh ?? flatRefresh(input)
  // A token that has expired is renewed at its first use.
  const expires_at = given
    ? (input.expires_at ?? null)
    : checkedExpiry(input.expires_at ?? null, at, now)
  if (!given) return written({ type, mcp_server_url, expires_at, refresh: null }, { access_token })
  const { client_id, token_endpoint, token_endpoint_auth, resource, scope, refresh_token } = given
  if (token_endpoint_auth.type !== 'none' && !client_id)
    throw invalid(`${at}.refresh.client_id: is required for ${token_endpoint_auth.type}`)
  const refresh = {
    client_id: client_id ?? null,
    token_endpoint,
    token_endpoint_auth: shownClient(token_endpoint_auth),
    resource: resource ?? null,
    scope: scope || null,
  }
  const secrets: CredentialSecrets = { access_token, refresh_token }
  if (token_endpoint_auth.type !== 'none' && typeof token_endpoint_auth.client_secret === 'string')
    secrets.client_secret = token_endpoint_auth.client_secret
  return written({ type, mcp_server_url, expires_at, refresh }, secrets)
}

function flatRefresh({ refresh_token, token_endpoint }: OAuthInput): OAuthInput['refresh'] {
  if (!refresh_token || !token_endpoint) return undefined
  return { refresh_token, token_endpoint, token_endpoint_auth: { type: 'none' } }
}

function checkedExpiry(text: string | null, at: string, now: number): string | null {
  if (text === null) return null
  if (Date.parse(text) <= now) throw invalid(`${at}.expires_at: lies in the past`)
  return text
}

/** Applies an update to the stored auth. `held`: the stored secrets. */
export function updateAuth(
  kept: { auth: CredentialAuth; held: ReadonlySet<SecretPart> },
  update: AuthUpdate,
  at: string,
  now: number,
): WrittenAuth {
  const { auth } = kept
  if (update.type !== auth.type)
    throw invalid(`${at}.type: this credential is ${auth.type}, which cannot change`)
  if (update.type === 'mcp_oauth' && auth.type === 'mcp_oauth')
    return changedOAuth(auth, kept.held, update, { at, now })
  if (update.type === 'agent_identity' && auth.type === 'agent_identity')
    return written(changedIdentity(auth, update, at), {})
  if (update.type === 'environment_variable' && auth.type === 'environment_variable')
    return changedVariable(auth, update, at)
  const changed =
    update.type === 'command_secret' && auth.type === 'command_secret'
      ? { ...auth, command_prefixes: update.command_prefixes ?? auth.command_prefixes }
      : auth
  const token = 'token' in update && update.token
  if (!token || !isOfToken(changed)) return written(changed, {})
  const { token: _kept, ...rest } = changed
  return writtenSecret({ ...rest, ...referenceIn('token', token) }, 'token', token)
}

type Variable = Extract<CredentialAuth, { type: 'environment_variable' }>
type VariableUpdate = Extract<AuthUpdate, { type: 'environment_variable' }>

function changedVariable(auth: Variable, update: VariableUpdate, at: string): WrittenAuth {
  const injection_location = {
    ...auth.injection_location,
    ...definedOf(update.injection_location),
  }
  if (!injection_location.header && !injection_location.body)
    throw invalid(`${at}.injection_location: at least one of header and body must be true`)
  const networking = update.networking ?? auth.networking
  const changed = { ...auth, networking, injection_location }
  const { secret_value } = update
  if (!secret_value) return written(changed, {})
  const { secret_value: _kept, ...rest } = changed
  const reference = referenceIn('secret_value', secret_value)
  return writtenSecret({ ...rest, ...reference }, 'secret_value', secret_value)
}

type TokenAuth = Exclude<
  CredentialAuth,
  { type: 'mcp_oauth' | 'environment_variable' | 'agent_identity' }
>

const isOfToken = (auth: CredentialAuth): auth is TokenAuth =>
  !['mcp_oauth', 'environment_variable', 'agent_identity'].includes(auth.type)

type Identity = Extract<CredentialAuth, { type: 'agent_identity' }>

function changedIdentity(
  auth: Identity,
  update: Extract<AuthUpdate, { type: 'agent_identity' }>,
  at: string,
): Identity {
  const allowed_hosts = update.allowed_hosts ?? auth.allowed_hosts
  if (auth.mcp_server_url === null && allowed_hosts.length === 0)
    throw invalid(`${at}.allowed_hosts: must name a host, as the credential has no mcp_server_url`)
  return {
    ...auth,
    allowed_hosts,
    audience: update.audience ?? auth.audience,
    ttl_seconds: update.ttl_seconds ?? auth.ttl_seconds,
    claims: update.claims ?? auth.claims,
  }
}

/** Null means the same as leaving the field out. */
const definedOf = <T>(bag: { [key: string]: T | null | undefined } = {}): { [key: string]: T } =>
  Object.fromEntries(
    Object.entries(bag).filter(
      (pair): pair is [string, T] => pair[1] !== null && pair[1] !== undefined,
    ),
  )

type OAuth = Extract<CredentialAuth, { type: 'mcp_oauth' }>
type OAuthUpdate = Extract<AuthUpdate, { type: 'mcp_oauth' }>

/** A new token without an expiry keeps the stored expiry, like the official client's reference. */
function changedOAuth(
  auth: OAuth,
  held: ReadonlySet<SecretPart>,
  update: OAuthUpdate,
  { at, now }: { at: string; now: number },
): WrittenAuth {
  const { access_token, expires_at } = update
  const given = update.refresh ?? {}
  const refresh_token = given.refresh_token ?? update.refresh_token
  if (!auth.refresh && (update.refresh || refresh_token))
    throw invalid(`${at}.refresh: this credential was made without one; make another`)
  const client = given.token_endpoint_auth
  checkClient(auth, held, client, `${at}.refresh`)
  const { isPublic, isReferenced, secret } = clientSecretOf(client)
  return written(
    {
      ...auth,
      expires_at:
        expires_at && !auth.refresh
          ? checkedExpiry(expires_at, at, now)
          : (expires_at ?? auth.expires_at),
      refresh: changedRefresh(auth.refresh, given),
    },
    definedOf({
      access_token,
      refresh_token,
      client_secret: secret,
    }),
    isPublic || isReferenced ? ['client_secret'] : [],
  )
}

type RefreshUpdate = NonNullable<OAuthUpdate['refresh']>

/** `secret`: a value that a confidential client gives. */
function clientSecretOf(client: RefreshUpdate['token_endpoint_auth']) {
  const given = client?.client_secret ?? undefined
  const isPublic = client?.type === 'none'
  const isValue = typeof given === 'string'
  return {
    isPublic,
    isReferenced: given !== undefined && !isValue,
    secret: isPublic || !isValue ? undefined : given,
  }
}

function checkClient(
  { refresh }: OAuth,
  held: ReadonlySet<SecretPart>,
  client: RefreshUpdate['token_endpoint_auth'],
  at: string,
): void {
  if (!client || client.type === 'none') return
  const isReferenced = refresh?.token_endpoint_auth.client_secret !== undefined
  if (!client.client_secret && !isReferenced && !held.has('client_secret'))
    throw invalid(`${at}.token_endpoint_auth.client_secret: is required for ${client.type}`)
  if (!refresh?.client_id)
    throw invalid(`${at}: a client without an id cannot use ${client.type}; make another`)
}

/** An empty scope clears the scope. */
const changedRefresh = (
  kept: OAuth['refresh'],
  { token_endpoint_auth: client, scope }: RefreshUpdate,
): OAuth['refresh'] =>
  kept && {
    ...kept,
    ...(client ? { token_endpoint_auth: changedClient(kept.token_endpoint_auth, client) } : {}),
    ...(typeof scope === 'string' ? { scope: scope || null } : {}),
  }

/**
 * The purpose of a credential as one text, unique among the active credentials of a vault. Long texts are hashed to fit
 * an index.
 */
export function bindingOf(auth: CredentialAuth): string {
  const text = purposeOf(auth)
  return text.length <= 512 ? text : `sha256 ${createHash('sha256').update(text).digest('hex')}`
}

function purposeOf(auth: CredentialAuth): string {
  switch (auth.type) {
    case 'static_bearer':
    case 'mcp_oauth':
      return `url ${normalUrl(new URL(auth.mcp_server_url))}`
    case 'cap_cli':
      return `cli ${auth.cli_id}`
    case 'command_secret':
      return `command ${auth.env_var} ${JSON.stringify(auth.command_prefixes.toSorted())}`
    case 'environment_variable':
      return `variable ${auth.secret_name}`
    case 'agent_identity':
      return auth.mcp_server_url === null
        ? `identity ${auth.allowed_hosts.toSorted().join(' ')}`
        : `url ${normalUrl(new URL(auth.mcp_server_url))}`
  }
}

/**
 * Scheme and host in lower case, without default port and final slashes. Attack: a sandbox chooses the path, and without
 * the look back a path of 60,000 slashes would take seconds.
 */
export const normalUrl = (url: URL): string =>
  `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}${url.search}`
