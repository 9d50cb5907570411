import { z } from 'zod'
import { CreatedAtQuery, ListQuery, Timestamp } from './primitives.ts'

export const AuditQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  session_id: z.string().optional(),
  vault_id: z.string().optional(),
  credential_id: z.string().optional(),
})

export const ChangeQuery = AuditQuery.extend({ model_card_id: z.string().optional() })

/** One call that carried a credential. `status` is null until its answer's head, and stays so after a crash. */
export const CredentialUse = z.object({
  id: z.string(),
  type: z.literal('credential_use'),
  session_id: z.string(),
  /** Null for a server's inline token. */
  vault_id: z.string().nullable(),
  credential_id: z.string().nullable(),
  caller: z.string(),
  server: z.string(),
  host: z.string(),
  method: z.string(),
  status: z.int().nullable(),
  refreshed: z.boolean(),
  ms: z.int().nullable(),
  created_at: Timestamp,
})

export const CredentialChange = z.object({
  id: z.string(),
  type: z.literal('credential_change'),
  /** Null for a model card. */
  vault_id: z.string().nullable(),
  credential_id: z.string().nullable(),
  model_card_id: z.string().nullable(),
  change: z.string(),
  /** The key that asked for it, or the session whose call brought it about. */
  api_key_id: z.string().nullable(),
  session_id: z.string().nullable(),
  created_at: Timestamp,
})
