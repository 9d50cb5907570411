import { z } from 'zod'
import {
  Flag,
  HttpUrl,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  Timestamp,
} from './primitives.ts'
import { isReservedVariable } from './variables.ts'

/** Goes into a header as it is. */
const Token = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'printable ASCII characters of one line')
const Secret = Line.min(1).max(16_384)
/** Takes a placeholder's place in headers and bodies. */
const Value = Secret.refine((text) => !/\p{Cc}/u.test(text), 'may hold no control characters')

const Variable = z
  .string()
  .max(256)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name')
  .refine(
    (name) => !isReservedVariable(name),
    'is reserved: it steers programs, shells or the proxy',
  )

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const hostname = new RegExp(`^(\\*\\.)?${label}(\\.${label})*$`, 'i')
const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const address = new RegExp(`^${octet}(\\.${octet}){3}$`)
/** Every URL parser takes a name that ends like this for an address. */
const numeric = /(^|\.)(\d+|0x[\da-f]*)$/i
const AllowedHost = z
  .string()
  .max(253)
  .refine(
    (host) => address.test(host) || (hostname.test(host) && !numeric.test(host)),
    'a hostname, an IPv4 address or *.suffix, without scheme, port or path',
  )

const Networking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('unrestricted') }),
  z.strictObject({
    type: z.literal('limited'),
    allowed_hosts: z.array(AllowedHost).max(16),
  }),
])
const noPlace = 'at least one of header and body must be true'

const EndpointAuth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('client_secret_basic'), client_secret: Secret }),
  z.strictObject({ type: z.literal('client_secret_post'), client_secret: Secret }),
])

const Refresh = z.strictObject({
  client_id: Line.min(1).max(1024).nullish(),
  refresh_token: Secret,
  token_endpoint: HttpUrl,
  token_endpoint_auth: EndpointAuth.default({ type: 'none' }),
  resource: Line.max(2048).nullish(),
  scope: Line.max(2048).nullish(),
})

const Prefix = Line.min(1)
  .max(256)
  .regex(/^\S+( \S+)*$/, 'words with one space between them')

/** The write form: it holds secrets, and no answer is ever made of it. */
export const AuthCreate = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('static_bearer'), token: Token, mcp_server_url: HttpUrl }),
  z
    .strictObject({
      type: z.literal('mcp_oauth'),
      access_token: Token,
      mcp_server_url: HttpUrl,
      expires_at: Timestamp.nullish(),
      refresh: Refresh.nullish(),
      // The interface's flat spelling.
      refresh_token: Secret.nullish(),
      token_endpoint: HttpUrl.nullish(),
    })
    .refine((auth) => !auth.refresh || (!auth.refresh_token && !auth.token_endpoint), {
      path: ['refresh'],
      message: 'excludes refresh_token and token_endpoint beside it',
    })
    .refine((auth) => Boolean(auth.refresh_token) === Boolean(auth.token_endpoint), {
      path: ['token_endpoint'],
      message: 'refresh_token and token_endpoint go together',
    }),
  z.strictObject({ type: z.literal('cap_cli'), cli_id: Line.min(1).max(64), token: Token }),
  z.strictObject({
    type: z.literal('command_secret'),
    token: Secret,
    env_var: Variable,
    command_prefixes: z.array(Prefix).max(16).default([]),
  }),
  z.strictObject({
    type: z.literal('environment_variable'),
    secret_name: Variable,
    secret_value: Value,
    networking: Networking,
    injection_location: z
      .strictObject({ header: z.boolean().default(false), body: z.boolean().default(false) })
      .refine(({ header, body }) => header || body, noPlace)
      .default({ header: true, body: true }),
  }),
])
export type AuthCreate = z.infer<typeof AuthCreate>

/**
 * What may change; the type must be the stored one's. URL, name, CLI and variable are fixed, and null is the same as
 * leaving out.
 */
export const AuthUpdate = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('static_bearer'), token: Token.nullish() }),
  z.strictObject({
    type: z.literal('mcp_oauth'),
    access_token: Token.nullish(),
    expires_at: Timestamp.nullish(),
    refresh: z
      .strictObject({
        refresh_token: Secret.nullish(),
        scope: Line.max(2048).nullish(),
        token_endpoint_auth: z
          .strictObject({
            type: z.enum(['none', 'client_secret_basic', 'client_secret_post']),
            client_secret: Secret.nullish(),
          })
          .optional(),
      })
      .nullish(),
    refresh_token: Secret.nullish(),
  }),
  z.strictObject({ type: z.literal('cap_cli'), token: Token.nullish() }),
  z.strictObject({
    type: z.literal('command_secret'),
    token: Secret.nullish(),
    command_prefixes: z.array(Prefix).max(16).optional(),
  }),
  z.strictObject({
    type: z.literal('environment_variable'),
    secret_value: Value.nullish(),
    networking: Networking.nullish(),
    injection_location: z
      .strictObject({ header: z.boolean().optional(), body: z.boolean().optional() })
      .optional(),
  }),
])
export type AuthUpdate = z.infer<typeof AuthUpdate>

/** The read form: what a credential is for, and no secret. */
export type CredentialAuth =
  | { type: 'static_bearer'; mcp_server_url: string }
  | {
      type: 'mcp_oauth'
      mcp_server_url: string
      expires_at: string | null
      refresh: {
        client_id: string | null
        token_endpoint: string
        token_endpoint_auth: { type: 'none' | 'client_secret_basic' | 'client_secret_post' }
        resource: string | null
        scope: string | null
      } | null
    }
  | { type: 'cap_cli'; cli_id: string }
  | { type: 'command_secret'; env_var: string; command_prefixes: string[] }
  | {
      type: 'environment_variable'
      secret_name: string
      networking: z.infer<typeof Networking>
      injection_location: { header: boolean; body: boolean }
    }

const displayName = Line.max(255).nullish()

export const CredentialCreate = z.strictObject({
  auth: AuthCreate,
  display_name: displayName,
  metadata: Metadata.nullish(),
})
export type CredentialCreate = z.infer<typeof CredentialCreate>

export const CredentialUpdate = z.strictObject({
  auth: AuthUpdate.optional(),
  display_name: displayName,
  metadata: MetadataPatch.nullish(),
})
export type CredentialUpdate = z.infer<typeof CredentialUpdate>

/** In a vault's own body: one that is there already, by its id or by what it is for, is written anew. */
const CredentialInVault = CredentialCreate.extend({ id: Id.optional() })
export type CredentialInVault = z.infer<typeof CredentialInVault>

const vaultName = Line.min(1).max(255)
const secrets = {
  credentials: z.array(CredentialInVault).max(20).optional(),
  credential: CredentialInVault.optional(),
  auth: AuthCreate.optional(),
}

type Names = { display_name?: string | null | undefined; name?: string | null | undefined }
const isOneName = ({ display_name, name }: Names) => !display_name || !name || display_name === name
const twoNames = { path: ['name'], error: 'differs from display_name, which is the same field' }

/** `name` and `display_name` are one field in two spellings; secrets come in the body. [dialects/input-both] */
export const VaultCreate = z
  .strictObject({
    display_name: vaultName.optional(),
    name: vaultName.optional(),
    metadata: Metadata.nullish(),
    ...secrets,
  })
  .refine(({ display_name, name }) => display_name ?? name, {
    path: ['display_name'],
    message: 'is required',
  })
  .refine(isOneName, twoNames)
export type VaultCreate = z.infer<typeof VaultCreate>

export const VaultUpdate = z
  .strictObject({
    display_name: vaultName.nullish(),
    name: vaultName.nullish(),
    metadata: MetadataPatch.nullish(),
    ...secrets,
  })
  .refine(isOneName, twoNames)
export type VaultUpdate = z.infer<typeof VaultUpdate>

/** All credentials that a vault's body brings, in order, each with the place where its auth stands. */
export const broughtBy = ({
  credentials,
  credential,
  auth,
}: VaultUpdate): { at: string; input: CredentialInVault }[] => [
  ...(credentials ?? []).map((input, index) => ({ at: `credentials.${index}.auth`, input })),
  ...(credential ? [{ at: 'credential.auth', input: credential }] : []),
  ...(auth ? [{ at: 'auth', input: { auth } }] : []),
]

export const VaultListQuery = ListQuery.extend({
  include_archived: Flag.optional(),
})

export const VaultShown = z.object({
  id: z.string(),
  type: z.literal('vault'),
  display_name: z.string(),
  name: z.string(),
  tenant_id: z.string(),
  metadata: z.record(z.string(), z.string()),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Vault = z.infer<typeof VaultShown>

export const CredentialShown = z.object({
  id: z.string(),
  type: z.literal('vault_credential'),
  vault_id: z.string(),
  display_name: z.string().nullable(),
  auth: z.looseObject({ type: z.string() }),
  metadata: z.record(z.string(), z.string()),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Credential = Omit<z.infer<typeof CredentialShown>, 'auth'> & { auth: CredentialAuth }

const HttpResponse = z
  .object({
    status_code: z.int(),
    content_type: z.string(),
    body: z.string(),
    body_truncated: z.boolean(),
  })
  .nullable()

/** What came of trying an OAuth credential, and nothing of the credential itself. */
export const Validation = z.object({
  status: z.enum(['valid', 'invalid', 'unknown']),
  has_refresh_token: z.boolean(),
  mcp_probe: z.object({ method: z.string(), http_response: HttpResponse }).nullable(),
  refresh: z
    .object({
      status: z.enum(['succeeded', 'failed', 'connect_error', 'no_refresh_token']),
      http_response: HttpResponse,
    })
    .nullable(),
})
export type Validation = z.infer<typeof Validation>

export const ValidationShown = Validation.extend({
  type: z.literal('vault_credential_validation'),
  credential_id: z.string(),
  vault_id: z.string(),
  validated_at: Timestamp,
})
