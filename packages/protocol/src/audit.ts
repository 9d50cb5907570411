import { z } from 'zod'
import { CreatedAt, CreatedAtQuery, ListQuery } from './primitives.ts'

export const AuditQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  session_id: z.string().optional().describe('Only entries of this session.'),
  vault_id: z.string().optional().describe('Only entries of this vault.'),
  credential_id: z.string().optional().describe('Only entries of this credential.'),
})

export const ChangeQuery = AuditQuery.extend({
  model_card_id: z.string().optional().describe('Only entries of this model card.'),
})

const AuditActor = z.object({
  type: z
    .string()
    .describe(
      '`api_key`, `user`, `environment_key`, `worker` or `operator`; or what acts without a person: `deployment`, `eval_run`, `dream`, `publication` or `session`.',
    ),
  id: z.string().nullable(),
  name: z.string().nullable().describe('As it was at the time.'),
})

/**
 * One call that carried a credential. `status` is null until the head of the answer comes, and stays null after a
 * crash.
 */
export const CredentialUse = z
  .object({
    id: z.string(),
    type: z.literal('credential_use'),
    session_id: z.string().nullable().describe('Null where an MCP server was tried.'),
    vault_id: z.string().nullable().describe("Null for a server's inline token."),
    credential_id: z.string().nullable(),
    caller: z.string().describe('What has made the call: `http`, `rpc-mcp` or `rpc-outbound`.'),
    server: z.string().describe('The name of the server, as the agent says it.'),
    host: z.string().describe('The hostname that was called.'),
    method: z.string().describe('The method of the request.'),
    status: z.int().nullable().describe('Null until the head of the answer came.'),
    refreshed: z.boolean().describe('Whether an OAuth token was renewed for the call.'),
    ms: z
      .int()
      .nullable()
      .describe('Milliseconds until the head of the answer; null until it came.'),
    actor: AuditActor.nullable().describe(
      'Who has made the session: a caller, or what acts without one, such as a deployment. Null when the audit does not go back so far.',
    ),
    on_behalf_of: AuditActor.nullable().describe(
      'The person or key behind an actor that is none; null for others.',
    ),
    created_at: CreatedAt,
  })
  .meta({ id: 'CredentialUse', description: 'One call that carried a credential.' })

export const CredentialChange = z
  .object({
    id: z.string(),
    type: z.literal('credential_change'),
    vault_id: z.string().nullable().describe('Null for a model card.'),
    credential_id: z.string().nullable(),
    model_card_id: z.string().nullable().describe('The id of the model card, or null.'),
    change: z.string().describe('What happened, such as `credential.refreshed`.'),
    api_key_id: z.string().nullable().describe('The key that asked for the change.'),
    session_id: z.string().nullable().describe('The session whose call brought it about.'),
    created_at: CreatedAt,
  })
  .meta({
    id: 'CredentialChange',
    description: 'One change of a credential, a vault or the key of a model card.',
  })

/** One read of a secret manager. A secret that was read serves further calls for a few seconds. */
export const SecretRead = z
  .object({
    id: z.string(),
    type: z.literal('secret_read'),
    session_id: z.string().nullable().describe('Null where a reference was tried.'),
    vault_id: z.string().nullable(),
    credential_id: z.string().nullable().describe('Null where the credential was not there yet.'),
    actor_id: z
      .string()
      .nullable()
      .describe('The key or person that gave the reference; null for the call of a session.'),
    manager: z.string().describe('The secret manager, by its name in the settings of the server.'),
    name: z.string().describe('The name of the secret, as the reference has it.'),
    field: z.string().nullable().describe('The field of the secret, or null.'),
    version: z
      .string()
      .nullable()
      .describe('The version that was read, or that was asked for; null where neither is known.'),
    result: z
      .string()
      .describe(
        '`read`, or why nothing was: `away`, `sign_in`, `denied`, `missing`, `malformed`, `too_large` or `not_allowed`.',
      ),
    created_at: CreatedAt,
  })
  .meta({ id: 'SecretRead', description: 'One read of a secret manager.' })

const trails = ['audit_lines', 'credential_uses', 'credential_changes', 'secret_reads'] as const

export const AuditLineQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  actor_id: z.string().optional().describe('Only what this key, person or worker did.'),
  credential_id: z.string().optional().describe('Only what was done with this key or sign-in.'),
  action: z
    .string()
    .optional()
    .describe('Only this action, such as `agent.update`; `agent.*` for all of a noun.'),
  resource_type: z.string().optional().describe('Only changes of this type of resource.'),
  resource_id: z.string().optional().describe('Only changes of this resource.'),
})
export type AuditLineQuery = z.infer<typeof AuditLineQuery>

const Fields = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe(
    'The fields that changed. A long value stands as its `sha256` and its `length`; a secret is never here.',
  )

/** A line of the audit: a change with its author, time, address and credential. */
export const AuditLine = z
  .object({
    id: z.string(),
    type: z.literal('audit_line'),
    workspace_id: z.string().nullable().describe('Null for the deployment itself.'),
    action: z.string().describe('A noun and a verb, such as `agent.update`.'),
    actor: AuditActor.describe(
      'Who has made the change. What acts without a person names the person or key behind it as `on_behalf_of` in `after`.',
    ),
    credential: z
      .object({ type: z.string(), id: z.string().nullable() })
      .describe('What the caller identified itself with.'),
    address: z.string().nullable().describe('Of the client, or of a proxy that is not trusted.'),
    user_agent: z.string().nullable(),
    request: z
      .object({
        id: z.string(),
        method: z.string().describe('The method of the request.'),
        route: z.string().describe('The path of the operation, with the names of its parameters.'),
      })
      .nullable()
      .describe('Null for a command.'),
    resource: z
      .object({
        type: z.string(),
        id: z.string().nullable(),
        parent_id: z
          .string()
          .nullable()
          .describe('What the resource belongs to, such as the vault of a credential; or null.'),
      })
      .describe('What was changed.'),
    before: Fields,
    after: Fields,
    seq: z.int().nullable().describe('Its number in the chain; null in its first second.'),
    hash: z
      .string()
      .nullable()
      .describe('Covers the line and the hash before it; null in its first second.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'AuditLine', description: 'One change: who made it, when, and by which credential.' })
export type AuditLine = z.infer<typeof AuditLine>

export const AuditExportQuery = z.object({
  trail: z.enum(trails).optional().describe('`audit_lines` unless named otherwise.'),
  from: CreatedAtQuery.shape['created_at[gte]'].describe('Lines from this time on.'),
  to: CreatedAtQuery.shape['created_at[lt]'].describe('Lines before this time.'),
})
