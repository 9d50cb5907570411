/** The write forms of a credential: its purpose and its secret. No answer contains these forms. */
import { z } from 'zod'
import { HeaderSecret, HttpUrl, Line, Timestamp, extension } from './primitives.ts'
import { SecretReference, withoutReference } from './secret-references.ts'
import { isReservedVariable } from './variables.ts'

const Token = HeaderSecret.max(16_384)
const Secret = Line.min(1).max(16_384)
/** A value that replaces a placeholder in headers and bodies. */
const Value = Secret.refine((text) => !/\p{Cc}/u.test(text), 'may hold no control characters')

/** The forms of secrets, which hold for what a secret manager answers too. */
export const secretForms = { header: Token, text: Secret, value: Value }

const orReference = <S extends z.ZodType>(secret: S) => z.union([secret, SecretReference])
const TokenOrReference = orReference(Token)
const SecretOrReference = orReference(Secret)
const ValueOrReference = orReference(Value)
/** Tokens that the service itself renews. */
const OwnToken = withoutReference(Token)
const OwnSecret = withoutReference(Secret)

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
/** Names that end in a number: every URL parser reads such a name as an address. */
const numeric = /(^|\.)(\d+|0x[\da-f]*)$/i
const AllowedHost = z
  .string()
  .max(253)
  .refine(
    (host) => address.test(host) || (hostname.test(host) && !numeric.test(host)),
    'must be a hostname, an IPv4 address or *.suffix, without scheme, port or path',
  )

export const Networking = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('unrestricted') }),
    z.strictObject({
      type: z.literal('limited'),
      allowed_hosts: z
        .array(AllowedHost)
        .max(16)
        .describe('Hostnames, IPv4 addresses or `*.suffix`; at most 16.'),
    }),
  ])
  .meta({ id: 'CredentialNetworking', description: 'To which hosts the secret is sent.' })
const noLocation = 'must have header or body true'

const EndpointAuth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('client_secret_basic'),
      client_secret: SecretOrReference.describe('The secret of the client.'),
    }),
    z.strictObject({
      type: z.literal('client_secret_post'),
      client_secret: SecretOrReference.describe('The secret of the client.'),
    }),
  ])
  .meta({ id: 'TokenEndpointAuthParam', description: 'How the client authenticates itself.' })

const Refresh = z
  .strictObject({
    client_id: Line.min(1)
      .max(1024)
      .nullish()
      .describe('The id of the client at the authorization server.'),
    refresh_token: OwnSecret.describe('The token by which a new access token is asked for.'),
    token_endpoint: HttpUrl.describe('Where a new access token is asked for.'),
    token_endpoint_auth: EndpointAuth.default({ type: 'none' }).describe(
      'How the client authenticates itself; not at all when absent.',
    ),
    resource: Line.max(2048)
      .nullish()
      .describe('The resource that the token is for, as RFC 8707 has it.'),
    scope: Line.max(2048)
      .nullish()
      .describe('The scopes that are asked for, with spaces between them.'),
  })
  .meta({ id: 'MCPOAuthRefreshParams', description: 'How the access token is renewed.' })

const noAnswer = 'The token, which no answer contains.'
const Bearer = TokenOrReference.describe(noAnswer)
const ServerUrl = HttpUrl.describe('The address of the MCP server; it does not change.')
const Cli = Line.min(1)
  .max(64)
  .describe('The program: `gh`, `glab`, `hf`, `npm` or `vercel`; it does not change.')
const inHeader = 'Whether the placeholder is replaced in headers.'
const inBody = 'Whether the placeholder is replaced in bodies.'

const Prefix = Line.min(1)
  .max(256)
  .regex(/^\S+( \S+)*$/, 'must be words with one space between them')

const Audience = Line.min(1).max(1024).describe('`aud` of the token: what the server expects.')
const Lifetime = z
  .int()
  .min(30)
  .max(600)
  .describe('Seconds for which a token is valid, 30 to 600; 300 when absent.')
const IdentityHosts = z
  .array(AllowedHost)
  .max(16)
  .describe('Hosts that get the token over https: hostnames, IPv4 addresses or `*.suffix`.')
const IdentityClaims = z
  .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a name of lower case'), Line.max(256))
  .refine((claims) => Object.keys(claims).length <= 16, 'may hold at most 16 claims')
  .describe('Further texts, which stand together below `claims` in the token.')

/** The write form: it holds secrets, and no answer contains it. */
export const AuthCreate = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('static_bearer'), token: Bearer, mcp_server_url: ServerUrl })
    .meta({ id: 'StaticBearerCreateParams', description: 'A fixed token for an MCP server.' }),
  z
    .strictObject({
      type: z.literal('mcp_oauth'),
      access_token: OwnToken.describe(noAnswer),
      mcp_server_url: ServerUrl,
      expires_at: Timestamp.nullish().describe('When the access token ends.'),
      refresh: Refresh.nullish().describe('When absent, the token is not renewed.'),
      // In the interface's spelling these fields stand outside of `refresh`.
      refresh_token: OwnSecret.nullish().meta(extension('The same as in `refresh`.')),
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
  z.strictObject({ type: z.literal('cap_cli'), cli_id: Cli, token: Bearer }).meta({
    id: 'CapCLICreateParams',
    description: 'A token for a command line that the service knows.',
    'x-extension': true,
  }),
  z
    .strictObject({
      type: z.literal('command_secret'),
      token: SecretOrReference.describe('The value of the variable.'),
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
      secret_value: ValueOrReference.describe(
        'What takes the place of the placeholder outside of the sandbox.',
      ),
      networking: Networking,
      injection_location: z
        .strictObject({
          header: z.boolean().default(false).describe(inHeader),
          body: z.boolean().default(false).describe(inBody),
        })
        .refine(({ header, body }) => header || body, noLocation)
        .default({ header: true, body: true })
        .describe('Where in a request the placeholder is replaced.'),
    })
    .meta({
      id: 'EnvironmentVariableCreateParams',
      description: 'A variable whose value is a placeholder inside of the sandbox.',
    }),
  z
    .strictObject({
      type: z.literal('agent_identity'),
      audience: Audience,
      mcp_server_url: HttpUrl.nullish().describe(
        'The MCP server that gets the token; it does not change.',
      ),
      allowed_hosts: IdentityHosts.default([]),
      ttl_seconds: Lifetime.default(300),
      claims: IdentityClaims.default({}),
    })
    .refine(({ mcp_server_url: url, allowed_hosts: hosts }) => url || hosts.length > 0, {
      path: ['mcp_server_url'],
      message: 'is required, unless allowed_hosts names a host',
    })
    .meta({
      id: 'AgentIdentityCreateParams',
      description: 'A signed token that says which agent calls. It has no secret to store.',
      'x-extension': true,
    }),
])
export type AuthCreate = z.infer<typeof AuthCreate>

/**
 * The fields that may change. `type` must be that of the stored credential; URL, name, CLI and variable are fixed. Null
 * means the same as an absent field.
 */
export const AuthUpdate = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('static_bearer'),
      token: TokenOrReference.nullish().describe('The new token; it stays when absent.'),
    })
    .meta({ id: 'StaticBearerUpdateParams', description: 'A new token.' }),
  z
    .strictObject({
      type: z.literal('mcp_oauth'),
      access_token: OwnToken.nullish().describe('The new access token; it stays when absent.'),
      expires_at: Timestamp.nullish().describe('When the new access token ends.'),
      refresh: z
        .strictObject({
          refresh_token: OwnSecret.nullish().describe(
            'The new refresh token; it stays when absent.',
          ),
          scope: Line.max(2048).nullish().describe('The scopes that are asked for from now on.'),
          token_endpoint_auth: z
            .strictObject({
              type: z.enum(['none', 'client_secret_basic', 'client_secret_post']),
              client_secret: SecretOrReference.nullish().describe('The new secret of the client.'),
            })
            .optional()
            .describe('How the client authenticates itself from now on.'),
        })
        .nullish()
        .describe('What changes of how the token is renewed.'),
      refresh_token: OwnSecret.nullish().describe('The same as in `refresh`.'),
    })
    .meta({ id: 'MCPOAuthUpdateParams', description: 'New tokens.' }),
  z
    .strictObject({
      type: z.literal('cap_cli'),
      token: TokenOrReference.nullish().describe('The new token; it stays when absent.'),
    })
    .meta({ id: 'CapCLIUpdateParams', description: 'A new token.', 'x-extension': true }),
  z
    .strictObject({
      type: z.literal('command_secret'),
      token: SecretOrReference.nullish().describe('The new value; it stays when absent.'),
      command_prefixes: z.array(Prefix).max(16).optional().describe('Replaces all of them.'),
    })
    .meta({
      id: 'CommandSecretUpdateParams',
      description: 'A new value, or other commands.',
      'x-extension': true,
    }),
  z
    .strictObject({
      type: z.literal('environment_variable'),
      secret_value: ValueOrReference.nullish().describe('The new value; it stays when absent.'),
      networking: Networking.nullish().describe('Replaces the hosts as a whole.'),
      injection_location: z
        .strictObject({
          header: z.boolean().optional().describe(inHeader),
          body: z.boolean().optional().describe(inBody),
        })
        .optional()
        .describe('Merged into what is there; one place must be left.'),
    })
    .meta({ id: 'EnvironmentVariableUpdateParams', description: 'A new value, or other hosts.' }),
  z
    .strictObject({
      type: z.literal('agent_identity'),
      audience: Audience.nullish(),
      allowed_hosts: IdentityHosts.nullish(),
      ttl_seconds: Lifetime.nullish(),
      claims: IdentityClaims.nullish(),
    })
    .meta({
      id: 'AgentIdentityUpdateParams',
      description: 'What later tokens say, and other hosts.',
      'x-extension': true,
    }),
])
export type AuthUpdate = z.infer<typeof AuthUpdate>
