/** How many things a workspace may hold. */
import { z } from 'zod'

export const quotaNames = ['agents'] as const
export type QuotaName = (typeof quotaNames)[number]

const Limit = z.int().min(0).max(1_000_000_000).nullable()

export const QuotaShown = z
  .object({
    type: z.literal('quota'),
    name: z.enum(quotaNames).describe('`agents`: agents that are not archived.'),
    limit: Limit.describe(
      'What the workspace has set, or else what it is allowed; null: no limit.',
    ),
    allowed: Limit.describe('The most that the operator allows the workspace; null: no limit.'),
    used: z.int(),
  })
  .meta({ id: 'Quota', description: 'How many things of a kind the workspace may hold.' })
export type Quota = z.infer<typeof QuotaShown>

export const QuotaUpdate = z
  .strictObject({ limit: Limit.describe('Null: what the operator allows.') })
  .meta({ id: 'QuotaUpdateParams', examples: [{ limit: 100 }] })
