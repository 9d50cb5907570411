/** Rate limits of the server and of a workspace, in the words of the official client. */
import { z } from 'zod'
import { Flag, extension } from './primitives.ts'

export const rateUnits = ['second', 'minute', 'hour', 'day'] as const
export type RateUnit = (typeof rateUnits)[number]

const limiters = rateUnits.map((unit) => `requests_per_${unit}` as const)
const RequestLimiter = z
  .enum(limiters)
  .describe('`requests_per_minute`, or the unit that the operator has set.')
export type RequestLimiter = z.infer<typeof RequestLimiter>
const Group = z
  .object({ id: z.string(), type: z.enum(['reads', 'writes', 'sessions', 'uploads', 'messages']) })
  .meta(extension('The class of requests that it counts.'))
const models = z.null().describe('Always null: no limit is of a model.')

const ofGroup = z.object({
  group_type: z.string().optional().describe('Only the limits of this class of requests.'),
})

export const RateLimitQuery = ofGroup.extend({
  model: z.string().optional().describe('404 unless empty: no limit is one of a model.'),
})

export const WorkspaceRateLimitQuery = ofGroup.extend({
  include_inherited: Flag.optional().describe(
    'Whether limits are listed too that the workspace has not set itself.',
  ),
})

export const RateLimitShown = z
  .object({
    id: z.string(),
    type: z.literal('rate_limit'),
    group: Group,
    models,
    limits: z
      .array(
        z.object({ type: RequestLimiter, value: z.int().describe('Requests in one such time.') }),
      )
      .describe('The limit, in the unit that the operator has set.'),
  })
  .meta({ id: 'RateLimit', description: 'How many requests of a class a workspace may make.' })

export const WorkspaceRateLimitShown = z
  .object({
    rate_limit_id: z.string().describe('The id of the limit, for a change.'),
    type: z.literal('workspace_rate_limit'),
    workspace_id: z.string(),
    group: Group,
    models,
    limits: z
      .array(
        z.object({
          type: RequestLimiter,
          value: z.int().describe('The limit that the workspace has set, or else the one it has.'),
          org_limit: z.int().describe('The most that the operator allows the workspace.'),
          source: z
            .object({ type: z.enum(['workspace', 'organization']) })
            .describe('Who has set the value.'),
        }),
      )
      .describe('The limit, in the unit that the operator has set.'),
  })
  .meta({ id: 'WorkspaceRateLimit', description: 'The limit of a workspace for one class.' })
export type WorkspaceRateLimit = z.infer<typeof WorkspaceRateLimitShown>

export const WorkspaceRateLimitUpdate = z
  .strictObject({
    limits: z
      .array(
        z.strictObject({
          type: RequestLimiter,
          value: z
            .int()
            .min(1)
            .max(1_000_000)
            .nullable()
            .describe('Null: the limit that the operator allows.'),
        }),
      )
      .min(1)
      .max(1)
      .describe('One limit, in its own unit.'),
  })
  .meta({
    id: 'WorkspaceRateLimitUpdateParams',
    examples: [{ limits: [{ type: 'requests_per_minute', value: 300 }] }],
  })
