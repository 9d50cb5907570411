/** What a form of a credential holds, as it was typed, and what is sent of it. */
import type {
  CredentialCreateBody,
  CredentialUpdateBody,
  VaultCredential,
} from '../../lib/api/types.ts'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { jsonOf } from '../../lib/request/api-call.ts'

export type ShownAuth = VaultCredential['auth']
type CredentialKind = ShownAuth['type']
type ClientAuth = 'none' | 'client_secret_basic' | 'client_secret_post'

export type CredentialDraft = {
  type: CredentialKind
  name: string
  /** SECRET: the one that every type has. */
  secret: string
  /** Whether a secret manager has it: the name of the secret there takes its place. */
  isReferred: boolean
  manager: string
  secretName: string
  secretField: string
  server: string
  /** As the field of a date gives it, in the reader's own time. */
  expires: string
  isRenewed: boolean
  /** SECRET */
  refreshToken: string
  tokenEndpoint: string
  clientId: string
  clientAuth: ClientAuth
  /** SECRET */
  clientSecret: string
  scope: string
  resource: string
  program: string
  variable: string
  /** One a line. */
  prefixes: string
  isLimited: boolean
  /** With commas or spaces between them. */
  hosts: string
  inHeader: boolean
  inBody: boolean
  audience: string
}

export const newCredential: CredentialDraft = {
  type: 'static_bearer',
  name: '',
  secret: '',
  isReferred: false,
  manager: '',
  secretName: '',
  secretField: '',
  server: '',
  expires: '',
  isRenewed: true,
  refreshToken: '',
  tokenEndpoint: '',
  clientId: '',
  clientAuth: 'none',
  clientSecret: '',
  scope: '',
  resource: '',
  program: 'gh',
  variable: '',
  prefixes: '',
  isLimited: true,
  hosts: '',
  inHeader: true,
  inBody: true,
  audience: '',
}

/** The fields whose refusals stand under them. */
export const credentialFields = [
  'display_name',
  'auth.token.manager',
  'auth.token.name',
  'auth.token.field',
  'auth.secret_value.manager',
  'auth.secret_value.name',
  'auth.secret_value.field',
  'auth.token',
  'auth.access_token',
  'auth.secret_value',
  'auth.mcp_server_url',
  'auth.expires_at',
  'auth.refresh.refresh_token',
  'auth.refresh.token_endpoint',
  'auth.refresh.client_id',
  'auth.refresh.token_endpoint_auth',
  'auth.refresh.scope',
  'auth.refresh.resource',
  'auth.cli_id',
  'auth.env_var',
  'auth.command_prefixes',
  'auth.secret_name',
  'auth.networking',
  'auth.injection_location',
  'auth.audience',
  'auth.allowed_hosts',
]

const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)
const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const timeOf = (typed: string): string | undefined => {
  const at = Date.parse(typed)
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** A field that stays empty is left out. */
const filled = (text: string): string | undefined => text.trim() || undefined

const networkingOf = ({ isLimited, hosts }: CredentialDraft) =>
  isLimited
    ? { type: 'limited' as const, allowed_hosts: words(hosts) }
    : { type: 'unrestricted' as const }

/** The secret, or where it is. Tokens of OAuth are renewed by the service, which has them itself. */
function givenSecret({ secret, isReferred, ...draft }: CredentialDraft) {
  if (!isReferred) return secret
  const field = filled(draft.secretField)
  return {
    type: 'secret_reference' as const,
    manager: draft.manager.trim(),
    name: draft.secretName.trim(),
    ...(field !== undefined && { field }),
  }
}

function authOf(draft: CredentialDraft): CredentialCreateBody['auth'] {
  const { type, secret } = draft
  switch (type) {
    case 'static_bearer':
      return { type, mcp_server_url: draft.server.trim(), token: givenSecret(draft) }
    case 'mcp_oauth': {
      const expires_at = timeOf(draft.expires)
      return {
        type,
        mcp_server_url: draft.server.trim(),
        access_token: secret,
        ...(expires_at !== undefined && { expires_at }),
        ...(draft.isRenewed && { refresh: refreshOf(draft) }),
      }
    }
    case 'cap_cli':
      return { type, cli_id: draft.program, token: givenSecret(draft) }
    case 'command_secret':
      return {
        type,
        env_var: draft.variable.trim(),
        command_prefixes: lines(draft.prefixes),
        token: givenSecret(draft),
      }
    case 'environment_variable':
      return {
        type,
        secret_name: draft.variable.trim(),
        secret_value: givenSecret(draft),
        networking: networkingOf(draft),
        injection_location: { header: draft.inHeader, body: draft.inBody },
      }
    case 'agent_identity': {
      const mcp_server_url = filled(draft.server)
      return {
        type,
        audience: draft.audience.trim(),
        ...(mcp_server_url !== undefined && { mcp_server_url }),
        allowed_hosts: words(draft.hosts),
        ttl_seconds: 300,
        claims: {},
      }
    }
  }
}

const clientOf = ({ clientAuth: type, clientSecret: client_secret }: CredentialDraft) =>
  type === 'none' ? { type } : { type, client_secret }

function refreshOf(draft: CredentialDraft) {
  const [client_id, scope, resource] = [draft.clientId, draft.scope, draft.resource].map(filled)
  return {
    refresh_token: draft.refreshToken,
    token_endpoint: draft.tokenEndpoint.trim(),
    token_endpoint_auth: clientOf(draft),
    ...(client_id !== undefined && { client_id }),
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  }
}

export function createBody(draft: CredentialDraft): CredentialCreateBody {
  const display_name = filled(draft.name)
  return { ...(display_name !== undefined && { display_name }), auth: authOf(draft) }
}

/** A credential as a form begins with it: all but its secrets, which nobody reads. */
export function draftOf({ auth, display_name }: VaultCredential): CredentialDraft {
  const draft = { ...newCredential, type: auth.type, name: display_name ?? '' }
  switch (auth.type) {
    case 'static_bearer':
      return { ...draft, server: auth.mcp_server_url }
    case 'mcp_oauth':
      return { ...draft, server: auth.mcp_server_url, ...renewalOf(auth.refresh) }
    case 'cap_cli':
      return { ...draft, program: auth.cli_id }
    case 'command_secret':
      return { ...draft, variable: auth.env_var, prefixes: auth.command_prefixes.join('\n') }
    case 'environment_variable':
      return {
        ...draft,
        variable: auth.secret_name,
        isLimited: auth.networking.type === 'limited',
        hosts: auth.networking.type === 'limited' ? auth.networking.allowed_hosts.join(', ') : '',
        inHeader: auth.injection_location.header,
        inBody: auth.injection_location.body,
      }
    case 'agent_identity':
      return {
        ...draft,
        audience: auth.audience,
        server: auth.mcp_server_url ?? '',
        hosts: auth.allowed_hosts.join(', '),
      }
  }
}

type TokenRenewal = Extract<ShownAuth, { type: 'mcp_oauth' }>['refresh']

function renewalOf(refresh: TokenRenewal): Partial<CredentialDraft> {
  if (refresh === null) return { isRenewed: false }
  return {
    tokenEndpoint: refresh.token_endpoint,
    clientId: refresh.client_id ?? '',
    clientAuth: clientAuthOf(refresh.token_endpoint_auth.type),
    scope: refresh.scope ?? '',
    resource: refresh.resource ?? '',
  }
}

const clientAuthOf = (type: string | undefined): ClientAuth =>
  type === 'client_secret_basic' || type === 'client_secret_post' ? type : 'none'

/** A new secret in place of the old one; nothing else changes. */
export function rotateBody(draft: CredentialDraft): CredentialUpdateBody {
  const { type, secret } = draft
  if (type === 'environment_variable') return { auth: { type, secret_value: secret } }
  if (type === 'agent_identity') return {}
  if (type !== 'mcp_oauth') return { auth: { type, token: secret } }
  const expires_at = timeOf(draft.expires)
  const refresh_token = filled(draft.refreshToken)
  return {
    auth: {
      type,
      ...(secret !== '' && { access_token: secret }),
      ...(expires_at !== undefined && { expires_at }),
      ...(refresh_token !== undefined && { refresh: { refresh_token } }),
    },
  }
}

/** What differs. A secret that was typed goes with it: it may let the credential reach further. */
export function changeBody(before: CredentialDraft, draft: CredentialDraft): CredentialUpdateBody {
  const auth = changedAuth(before, draft)
  return {
    ...(draft.name.trim() !== before.name && { display_name: filled(draft.name) ?? null }),
    ...(auth !== undefined && { auth }),
  }
}

/** Without a secret that was typed, the one that is there stays. */
const changedClient = ({ clientAuth: type, clientSecret: client_secret }: CredentialDraft) => ({
  type,
  ...(type !== 'none' && client_secret !== '' && { client_secret }),
})

function changedAuth(
  before: CredentialDraft,
  draft: CredentialDraft,
): CredentialUpdateBody['auth'] | undefined {
  const { type } = draft
  const isOther = (...names: (keyof CredentialDraft)[]) =>
    names.some((name) => before[name] !== draft[name])
  if (type === 'mcp_oauth') {
    const refresh = {
      ...(isOther('scope') && { scope: draft.scope.trim() }),
      ...(isOther('clientAuth', 'clientSecret') && { token_endpoint_auth: changedClient(draft) }),
    }
    return Object.keys(refresh).length > 0 ? { type, refresh } : undefined
  }
  if (type === 'command_secret' && isOther('prefixes'))
    return {
      type,
      command_prefixes: lines(draft.prefixes),
      ...(draft.secret !== '' && { token: draft.secret }),
    }
  if (type === 'agent_identity' && isOther('audience', 'hosts'))
    return { type, audience: draft.audience.trim(), allowed_hosts: words(draft.hosts) }
  if (type === 'environment_variable' && isOther('isLimited', 'hosts', 'inHeader', 'inBody'))
    return {
      type,
      ...(isOther('isLimited', 'hosts') && { networking: networkingOf(draft) }),
      ...(isOther('inHeader', 'inBody') && {
        injection_location: { header: draft.inHeader, body: draft.inBody },
      }),
      ...(draft.secret !== '' && { secret_value: draft.secret }),
    }
  return undefined
}

const secretNames = new Set([
  'token',
  'access_token',
  'refresh_token',
  'client_secret',
  'secret_value',
])

/** For the request that is shown: each secret stands as `…`. */
export const withoutSecrets = (body: CredentialCreateBody | CredentialUpdateBody): JsonBody =>
  JSON.parse(
    JSON.stringify(jsonOf(body), (name, value: unknown) =>
      secretNames.has(name) && typeof value === 'string' ? '…' : value,
    ),
  )

/** Where its secret is, in words; undefined where the service keeps it. */
export function referenceOf(auth: ShownAuth): string | undefined {
  if (auth.type === 'agent_identity') return undefined
  const found =
    auth.type === 'environment_variable'
      ? auth.secret_value
      : auth.type === 'mcp_oauth'
        ? undefined
        : auth.token
  if (!found) return undefined
  return [found.manager, found.name, ...(found.field ? [found.field] : [])].join(' · ')
}

/** Where the credential goes. */
export function destinationOf(auth: ShownAuth): string {
  switch (auth.type) {
    case 'static_bearer':
    case 'mcp_oauth':
      return hostOf(auth.mcp_server_url)
    case 'cap_cli':
      return auth.cli_id
    case 'command_secret':
      return auth.command_prefixes.join(', ')
    case 'environment_variable':
      return auth.networking.type === 'limited' ? auth.networking.allowed_hosts.join(', ') : ''
    case 'agent_identity':
      return [
        ...(auth.mcp_server_url === null ? [] : [hostOf(auth.mcp_server_url)]),
        ...auth.allowed_hosts,
      ].join(', ')
  }
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** What it is called where nobody gave it a name. */
export function nameOf({ display_name, auth }: VaultCredential): string {
  if (display_name) return display_name
  if (auth.type === 'command_secret') return auth.env_var
  if (auth.type === 'environment_variable') return auth.secret_name
  return destinationOf(auth)
}
