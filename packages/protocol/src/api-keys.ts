import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { CreatedAt, Id, Line, ListQuery, Timestamp } from './primitives.ts'

export const keyReaches = ['work', 'sessions'] as const

export const ApiKeyCreate = z
  .strictObject({
    name: Line.min(1).max(256).describe('What the key is for.'),
    environment_id: Id.nullish().describe(
      'Makes it an environment key: only for the work of this environment.',
    ),
    reach: z
      .enum(keyReaches)
      .nullish()
      .describe(
        'Of an environment key, `work` when absent. `sessions`: it also opens what a claim token opens, memory stores excepted, of each session whose work item of the environment is claimed at that moment.',
      ),
    admin: z.boolean().nullish().describe('Makes it a workspace-admin key.'),
    read_only: z
      .boolean()
      .nullish()
      .describe('Makes it a workspace key that reads and changes nothing.'),
    expires_at: Timestamp.nullish().describe('When the key stops working.'),
  })
  .meta({
    id: 'ApiKeyCreateParams',
    examples: [{ name: 'workers', environment_id: exampleIds.environment, reach: 'sessions' }],
  })
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>

export const ApiKeyShown = z
  .object({
    id: z.string(),
    type: z.literal('api_key'),
    name: z.string(),
    kind: z
      .enum(['workspace', 'environment', 'oauth'])
      .describe('`environment` for a key of workers, `oauth` for the login of a client.'),
    admin: z.boolean().describe('Whether it is a workspace-admin key.'),
    read_only: z.boolean().describe('Whether the key reads and changes nothing.'),
    environment_id: z.string().nullable(),
    client_id: z.string().nullable().describe('Of a login, its client. Null for a key.'),
    reach: z.enum(keyReaches).nullable().describe('Null for a workspace key.'),
    preview: z.string().describe('Enough of the key to recognise it.'),
    created_by: z
      .string()
      .nullable()
      .describe('The person or the key that made it; null for an operator.'),
    last_used_at: Timestamp.nullable().describe(
      'When the key was last used: the first use within seconds, later uses within ten minutes. Null for a key that never was.',
    ),
    expires_at: Timestamp.nullable().describe('When the key stops working, or null.'),
    revoked_at: Timestamp.nullable().describe('When the key was revoked, or null.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'ApiKey', description: 'A key, without its value.' })
export type ApiKey = z.infer<typeof ApiKeyShown>

export const ApiKeyListQuery = ListQuery.extend({
  environment_id: Id.optional().describe('Only keys of this environment.'),
})

/** The answer to a create, and the only one that holds the key itself. */
export const ApiKeyCreated = ApiKeyShown.extend({
  key: z.string().describe('The key itself. No other answer contains it.'),
}).meta({ id: 'ApiKeyWithValue', description: 'A key with its value.' })
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>
