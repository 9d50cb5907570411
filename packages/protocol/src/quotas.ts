/** Quotas: how much a workspace may store, and how much it may do at once. */
import { z } from 'zod'

const meanings = {
  agents: 'agents that are not archived',
  memory_stores: 'memory stores that are not archived',
  stored_bytes: 'bytes of its files, outputs, versions of skills and memories',
  sessions_daily: 'sessions that it creates in a day (UTC)',
  sessions_running: 'sessions that run at once, in each process',
  sandboxes: 'sandboxes that run at once, in each process',
  streams: 'event streams that are open, in each process',
  messages: 'requests of `/v1/messages` that run at once, in each process; 0 switches them off',
  tunnels: 'connections from its sandboxes to the outside, in each process',
  folder_bytes: 'bytes of the folders of one session',
  folder_files: 'files in the folders of one session',
} as const

export type QuotaName = keyof typeof meanings
export const quotaNames = Object.keys(meanings) as QuotaName[]

/** More than a petabyte in bytes. The number is still exact. */
export const largestQuota = 1_000_000_000_000_000

const Limit = z.int().min(0).max(largestQuota).nullable()

export const QuotaShown = z
  .object({
    type: z.literal('quota'),
    name: z.enum(quotaNames).describe(
      Object.entries(meanings)
        .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
        .join('; '),
    ),
    value: Limit.describe('What holds for the workspace; null: no limit.'),
    source: z
      .enum(['server', 'operator', 'workspace'])
      .describe('Who has set the value: the settings of the server where nobody else has.'),
    limit: Limit.describe(
      'What the workspace has set, or else what it is allowed; null: no limit.',
    ),
    allowed: Limit.describe('The most that the workspace is allowed; null: no limit.'),
    used: z
      .int()
      .nullable()
      .describe(
        'How much is used now: of what counts in each process, in the one that answers. Null for the folders of sessions.',
      ),
  })
  .meta({ id: 'Quota', description: 'How much a workspace may hold, or do at once.' })
export type Quota = z.infer<typeof QuotaShown>

export const QuotaUpdate = z
  .strictObject({ limit: Limit.describe('Null: what the workspace is allowed.') })
  .meta({ id: 'QuotaUpdateParams', examples: [{ limit: 100 }] })
