import { z } from 'zod'
import {
  ArchivedAt,
  CreatedAt,
  HttpUrl,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  Timestamp,
  UpdatedAt,
  extension,
  includeArchived,
} from './primitives.ts'
import { isReservedVariable } from './variables.ts'

/** Goes into a header as it is. */
const Token = z
  .string()
  .min(1)
  .max(16_384)
  .regex(
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/,
    'must be printable ASCII characters of one line',
  )
const Secret = Line.min(1).max(16_384)
/** Takes a placeholder's place in headers and bodies. */
const Value = Secret.refine((text) => !/\p{Cc}/u.test(text), 'may hold no control characters')

const Variable = z
  .string()
  .max(256)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name')
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
    'must be a hostname, an IPv4 address or *.suffix, without scheme, port or path',
  )

const Networking = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('unrestricted') }),
    z.strictObject({
      type: z.literal('limited'),
      allowed_hosts: z.array(AllowedHost).max(16),
    }),
  ])
  .meta({ id: 'CredentialNetworking', description: 'To which hosts the secret is sent.' })
const noPlace = 'must have header or body true'

const EndpointAuth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({ type: z.literal('client_secret_basic'), client_secret: Secret }),
    z.strictObject({ type: z.literal('client_secret_post'), client_secret: Secret }),
  ])
  .meta({ id: 'TokenEndpointAuthParam', description: 'How the client authenticates itself.' })

const Refresh = z
  .strictObject({
    client_id: Line.min(1).max(1024).nullish(),
    refresh_token: Secret,
    token_endpoint: HttpUrl.describe('Where a new access token is asked for.'),
    token_endpoint_auth: EndpointAuth.default({ type: 'none' }),
    resource: Line.max(2048).nullish(),
    scope: Line.max(2048).nullish(),
  })
  .meta({ id: 'MCPOAuthRefreshParams', description: 'How the access token is renewed.' })

const Prefix = Line.min(1)
  .max(256)
  .regex(/^\S+( \S+)*$/, 'must be words with one space between them')

/** The write form: it holds secrets, and no answer is ever made of it. */
export const AuthCreate = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('static_bearer'), token: Token, mcp_server_url: HttpUrl })
    .meta({ id: 'StaticBearerCreateParams', description: 'A fixed token for an MCP server.' }),
  z
    .strictObject({
      type: z.literal('mcp_oauth'),
      access_token: Token,
      mcp_server_url: HttpUrl,
      expires_at: Timestamp.nullish(),
      refresh: Refresh.nullish(),
      // The interface's flat spelling.
      refresh_token: Secret.nullish().meta(extension('The same as in `refresh`.')),
      token_endpoint: HttpUrl.nullish().meta(extension('The same as in `refresh`.')),
    })
    .refine((auth) => !auth.refresh || (!auth.refresh_token && !auth.token_endpoint), {
      path: ['refresh'],
      message: 'must not stand beside refresh_token and token_endpoint',
    })
    .refine((auth) => Boolean(auth.refresh_token) === Boolean(auth.token_endpoint), {
      path: ['token_endpoint'],
      message: 'must go together with refresh_token',
    })
    .meta({ id: 'MCPOAuthCreateParams', description: 'OAuth tokens for an MCP server.' }),
  z.strictObject({ type: z.literal('cap_cli'), cli_id: Line.min(1).max(64), token: Token }).meta({
    id: 'CapCLICreateParams',
    description: 'A token for a command line that the service knows.',
    'x-extension': true,
  }),
  z
    .strictObject({
      type: z.literal('command_secret'),
      token: Secret,
      env_var: Variable.describe('The variable that the command reads.'),
      command_prefixes: z
        .array(Prefix)
        .max(16)
        .default([])
        .describe('Only commands that begin with one of these words.'),
    })
    .meta({
      id: 'CommandSecretCreateParams',
      description: 'A variable of some commands.',
      'x-extension': true,
    }),
  z
    .strictObject({
      type: z.literal('environment_variable'),
      secret_name: Variable.describe('The variable; the sandbox sees a placeholder in it.'),
      secret_value: Value.describe(
        'What takes the place of the placeholder outside of the sandbox.',
      ),
      networking: Networking,
      injection_location: z
        .strictObject({ header: z.boolean().default(false), body: z.boolean().default(false) })
        .refine(({ header, body }) => header || body, noPlace)
        .default({ header: true, body: true })
        .describe('Where in a request the placeholder is replaced.'),
    })
    .meta({
      id: 'EnvironmentVariableCreateParams',
      description: 'A variable whose value is a placeholder inside of the sandbox.',
    }),
])
export type AuthCreate = z.infer<typeof AuthCreate>

/**
 * What may change; the type must be the stored one's. URL, name, CLI and variable are fixed, and null is the same as
 * leaving out.
 */
export const AuthUpdate = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('static_bearer'), token: Token.nullish() })
    .meta({ id: 'StaticBearerUpdateParams', description: 'A new token.' }),
  z
    .strictObject({
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
    })
    .meta({ id: 'MCPOAuthUpdateParams', description: 'New tokens.' }),
  z
    .strictObject({ type: z.literal('cap_cli'), token: Token.nullish() })
    .meta({ id: 'CapCLIUpdateParams', description: 'A new token.', 'x-extension': true }),
  z
    .strictObject({
      type: z.literal('command_secret'),
      token: Secret.nullish(),
      command_prefixes: z.array(Prefix).max(16).optional(),
    })
    .meta({
      id: 'CommandSecretUpdateParams',
      description: 'A new value, or other commands.',
      'x-extension': true,
    }),
  z
    .strictObject({
      type: z.literal('environment_variable'),
      secret_value: Value.nullish(),
      networking: Networking.nullish(),
      injection_location: z
        .strictObject({ header: z.boolean().optional(), body: z.boolean().optional() })
        .optional(),
    })
    .meta({ id: 'EnvironmentVariableUpdateParams', description: 'A new value, or other hosts.' }),
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

const displayName = Line.max(255).nullish().describe('What people call the credential.')

export const CredentialCreate = z
  .strictObject({ auth: AuthCreate, display_name: displayName, metadata: Metadata.nullish() })
  .meta({
    id: 'CredentialCreateParams',
    examples: [
      {
        display_name: 'Issue tracker',
        auth: {
          type: 'static_bearer',
          token: 'example-token',
          mcp_server_url: 'https://mcp.example.com/mcp',
        },
      },
    ],
  })
export type CredentialCreate = z.infer<typeof CredentialCreate>

export const CredentialUpdate = z
  .strictObject({
    auth: AuthUpdate.optional().describe('Its `type` is that of the credential.'),
    display_name: displayName,
    metadata: MetadataPatch.nullish(),
  })
  .meta({
    id: 'CredentialUpdateParams',
    examples: [{ auth: { type: 'static_bearer', token: 'example-token-2' } }],
  })
export type CredentialUpdate = z.infer<typeof CredentialUpdate>

/** In a vault's own body: one that is there already, by its id or by what it is for, is written anew. */
const CredentialInVault = CredentialCreate.extend({
  id: Id.optional().describe('A credential that is there already is written anew.'),
}).meta({ id: 'CredentialInVaultParams', 'x-extension': true })
export type CredentialInVault = z.infer<typeof CredentialInVault>

const vaultName = Line.min(1).max(255).describe('What people call the vault.')
const secrets = {
  credentials: z.array(CredentialInVault).max(20).optional().meta(extension('Its credentials.')),
  credential: CredentialInVault.optional().meta(extension('One credential.')),
  auth: AuthCreate.optional().meta(extension('One credential without a name.')),
}
const otherName = extension('Another name of `display_name`.')

type Names = { display_name?: string | null | undefined; name?: string | null | undefined }
const isOneName = ({ display_name, name }: Names) => !display_name || !name || display_name === name
const twoNames = { path: ['name'], error: 'differs from display_name, which is the same field' }

/** `name` and `display_name` are one field in two spellings; secrets come in the body. [dialects/input-both] */
export const VaultCreate = z
  .strictObject({
    display_name: vaultName.optional(),
    name: vaultName.optional().meta(otherName),
    metadata: Metadata.nullish(),
    ...secrets,
  })
  .refine(({ display_name, name }) => display_name ?? name, {
    path: ['display_name'],
    message: 'is required',
  })
  .refine(isOneName, twoNames)
  .meta({ id: 'VaultCreateParams', examples: [{ display_name: 'Reviewer' }] })
export type VaultCreate = z.infer<typeof VaultCreate>

export const VaultUpdate = z
  .strictObject({
    display_name: vaultName.nullish(),
    name: vaultName.nullish().meta(otherName),
    metadata: MetadataPatch.nullish(),
    ...secrets,
  })
  .refine(isOneName, twoNames)
  .meta({ id: 'VaultUpdateParams', examples: [{ metadata: { team: 'data' } }] })
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

export const VaultListQuery = ListQuery.extend({ include_archived: includeArchived })

export const VaultShown = z
  .object({
    id: z.string(),
    type: z.literal('vault'),
    display_name: z.string(),
    name: z.string().meta(otherName),
    tenant_id: z.string().meta(extension('The workspace.')),
    metadata: z.record(z.string(), z.string()),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Vault', description: 'A place for credentials.' })
export type Vault = z.infer<typeof VaultShown>

const shownAuth = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('static_bearer'), mcp_server_url: z.string() }),
    z.looseObject({
      type: z.literal('mcp_oauth'),
      mcp_server_url: z.string(),
      expires_at: z.string().nullable(),
      refresh: z
        .looseObject({
          client_id: z.string().nullable(),
          token_endpoint: z.string(),
          token_endpoint_auth: z.looseObject({ type: z.string() }),
          resource: z.string().nullable(),
          scope: z.string().nullable(),
        })
        .nullable(),
    }),
    z.looseObject({ type: z.literal('cap_cli'), cli_id: z.string() }),
    z.looseObject({
      type: z.literal('command_secret'),
      env_var: z.string(),
      command_prefixes: z.array(z.string()),
    }),
    z.looseObject({
      type: z.literal('environment_variable'),
      secret_name: z.string(),
      networking: Networking,
      injection_location: z.object({ header: z.boolean(), body: z.boolean() }),
    }),
  ])
  .meta({ id: 'CredentialAuth', description: 'What a credential is for, without its secret.' })

export const CredentialShown = z
  .object({
    id: z.string(),
    type: z.literal('vault_credential'),
    vault_id: z.string(),
    display_name: z.string().nullable(),
    auth: shownAuth,
    metadata: z.record(z.string(), z.string()),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Credential', description: 'A credential, without its secret.' })
export type Credential = Omit<z.infer<typeof CredentialShown>, 'auth'> & { auth: CredentialAuth }
