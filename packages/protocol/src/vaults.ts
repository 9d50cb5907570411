import { z } from 'zod'
import { AuthCreate, AuthUpdate, Networking } from './credential-auth.ts'
import {
  ArchivedAt,
  CreatedAt,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  UpdatedAt,
  extension,
  includeArchived,
} from './primitives.ts'
import { SecretReference } from './secret-references.ts'

/**
 * The read form: the purpose of a credential, without its secret. A secret that stands in a secret manager is shown by
 * its reference, in the field of the secret.
 */
export type CredentialAuth =
  | { type: 'static_bearer'; mcp_server_url: string; token?: SecretReference }
  | {
      type: 'mcp_oauth'
      mcp_server_url: string
      expires_at: string | null
      refresh: {
        client_id: string | null
        token_endpoint: string
        token_endpoint_auth: {
          type: 'none' | 'client_secret_basic' | 'client_secret_post'
          client_secret?: SecretReference
        }
        resource: string | null
        scope: string | null
      } | null
    }
  | { type: 'cap_cli'; cli_id: string; token?: SecretReference }
  | {
      type: 'command_secret'
      env_var: string
      command_prefixes: string[]
      token?: SecretReference
    }
  | {
      type: 'environment_variable'
      secret_name: string
      networking: z.infer<typeof Networking>
      injection_location: { header: boolean; body: boolean }
      secret_value?: SecretReference
    }
  | {
      type: 'agent_identity'
      audience: string
      mcp_server_url: string | null
      allowed_hosts: string[]
      ttl_seconds: number
      claims: Record<string, string>
    }

const displayName = Line.max(255).nullish().describe('What people call the credential.')

export const CredentialCreate = z
  .strictObject({
    auth: AuthCreate.describe('What the credential is for, with its secret.'),
    display_name: displayName,
    metadata: Metadata.nullish(),
  })
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

/** A credential in the body of a vault. An existing credential with the same id or the same purpose is overwritten. */
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

type VaultNames = { display_name?: string | null | undefined; name?: string | null | undefined }
const isOneName = ({ display_name, name }: VaultNames) =>
  !display_name || !name || display_name === name
const twoNames = { path: ['name'], error: 'differs from display_name, which is the same field' }

/**
 * `name` and `display_name` are two spellings of one field. The body may hold the secrets of credentials.
 * [dialects/input-both]
 */
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
    display_name: vaultName.nullish().describe('What people call the vault.'),
    name: vaultName.nullish().meta(otherName),
    metadata: MetadataPatch.nullish(),
    ...secrets,
  })
  .refine(isOneName, twoNames)
  .meta({ id: 'VaultUpdateParams', examples: [{ metadata: { team: 'data' } }] })
export type VaultUpdate = z.infer<typeof VaultUpdate>

/** All credentials in the body of a vault, in order. `at`: the path of the credential's auth in the body. */
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
    display_name: z.string().describe('What people call the vault.'),
    name: z.string().meta(otherName),
    tenant_id: z.string().meta(extension('The workspace.')),
    metadata: z.record(z.string(), z.string()),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Vault', description: 'A place for credentials.' })
export type Vault = z.infer<typeof VaultShown>

const serverUrl = z.string().describe('The address of the MCP server.')
const reference = SecretReference.optional().meta(
  extension('The place of the secret in a secret manager; absent where the service keeps it.'),
)
const shownAuth = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('static_bearer'),
      mcp_server_url: serverUrl,
      token: reference,
    }),
    z.looseObject({
      type: z.literal('mcp_oauth'),
      mcp_server_url: serverUrl,
      expires_at: z.string().nullable().describe('When the access token ends, or null.'),
      refresh: z
        .looseObject({
          client_id: z
            .string()
            .nullable()
            .describe('The id of the client at the authorization server.'),
          token_endpoint: z.string().describe('Where a new access token is asked for.'),
          token_endpoint_auth: z
            .looseObject({ type: z.string(), client_secret: reference })
            .describe('How the client authenticates itself, without its secret.'),
          resource: z.string().nullable().describe('The resource that the token is for, or null.'),
          scope: z.string().nullable().describe('The scopes that are asked for, or null.'),
        })
        .nullable()
        .describe('How the access token is renewed. Null: it is not.'),
    }),
    z.looseObject({
      type: z.literal('cap_cli'),
      cli_id: z.string().describe('The program that the token is for.'),
      token: reference,
    }),
    z.looseObject({
      type: z.literal('command_secret'),
      env_var: z.string().describe('The variable that the command reads.'),
      command_prefixes: z
        .array(z.string())
        .describe('Only commands that begin with one of these words.'),
      token: reference,
    }),
    z.looseObject({
      type: z.literal('environment_variable'),
      secret_name: z.string().describe('The variable; the sandbox sees a placeholder in it.'),
      networking: Networking,
      injection_location: z
        .object({
          header: z.boolean().describe('Whether it is replaced in headers.'),
          body: z.boolean().describe('Whether it is replaced in bodies.'),
        })
        .describe('Where in a request the placeholder is replaced.'),
      secret_value: reference,
    }),
    z.looseObject({
      type: z.literal('agent_identity'),
      audience: z.string().describe('`aud` of the token.'),
      mcp_server_url: z
        .string()
        .nullable()
        .describe('The MCP server that gets the token, or null.'),
      allowed_hosts: z.array(z.string()).describe('Hosts that get the token over https.'),
      ttl_seconds: z.int().describe('Seconds for which a token is valid.'),
      claims: z.record(z.string(), z.string()).describe('Further texts of the token.'),
    }),
  ])
  .meta({ id: 'CredentialAuth', description: 'What a credential is for, without its secret.' })

export const CredentialShown = z
  .object({
    id: z.string(),
    type: z.literal('vault_credential'),
    vault_id: z.string(),
    display_name: z.string().nullable().describe('What people call the credential, or null.'),
    auth: shownAuth,
    metadata: z.record(z.string(), z.string()),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Credential', description: 'A credential, without its secret.' })
export type Credential = Omit<z.infer<typeof CredentialShown>, 'auth'> & { auth: CredentialAuth }
