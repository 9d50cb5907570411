import { z } from 'zod'
import { Id, Line, Timestamp } from './primitives.ts'

export const keyReaches = ['work', 'sessions'] as const

export const ApiKeyCreate = z.strictObject({
  name: Line.min(1).max(256),
  /** Makes it an environment key: only for that environment's work. */
  environment_id: Id.nullish(),
  /**
   * Of an environment key; `work` by default. `sessions`: it opens what a claim token opens, memory stores excepted, of
   * each session whose work item of that environment is claimed at that moment.
   */
  reach: z.enum(keyReaches).nullish(),
  /** Makes it a workspace-admin key. */
  admin: z.boolean().nullish(),
  expires_at: Timestamp.nullish(),
})
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>

export const ApiKeyShown = z.object({
  id: z.string(),
  type: z.literal('api_key'),
  name: z.string(),
  kind: z.enum(['workspace', 'environment']),
  admin: z.boolean(),
  environment_id: z.string().nullable(),
  /** Null for a workspace key. */
  reach: z.enum(keyReaches).nullable(),
  preview: z.string(),
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type ApiKey = z.infer<typeof ApiKeyShown>

/** The answer to a create, and the only one that holds the key itself. */
export const ApiKeyCreated = ApiKeyShown.extend({ key: z.string() })
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>
