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

/** One call that carried a credential. `status` is null until its answer's head, and stays so after a crash. */
export const CredentialUse = z
  .object({
    id: z.string(),
    type: z.literal('credential_use'),
    session_id: z.string(),
    vault_id: z.string().nullable().describe("Null for a server's inline token."),
    credential_id: z.string().nullable(),
    caller: z.string(),
    server: z.string(),
    host: z.string(),
    method: z.string(),
    status: z.int().nullable().describe('Null until the head of the answer came.'),
    refreshed: z.boolean(),
    ms: z.int().nullable(),
    created_at: CreatedAt,
  })
  .meta({ id: 'CredentialUse', description: 'One call that carried a credential.' })

export const CredentialChange = z
  .object({
    id: z.string(),
    type: z.literal('credential_change'),
    vault_id: z.string().nullable().describe('Null for a model card.'),
    credential_id: z.string().nullable(),
    model_card_id: z.string().nullable(),
    change: z.string(),
    api_key_id: z.string().nullable().describe('The key that asked for the change.'),
    session_id: z.string().nullable().describe('The session whose call brought it about.'),
    created_at: CreatedAt,
  })
  .meta({
    id: 'CredentialChange',
    description: 'One change of a credential, a vault or the key of a model card.',
  })
