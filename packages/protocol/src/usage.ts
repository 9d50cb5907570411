import { z } from 'zod'
import { SpendSummaryShown } from './spend-limits.ts'
import { TextList, Timestamp } from './primitives.ts'

export const usageGroups = ['model', 'agent_id', 'session_id', 'price'] as const
export type UsageGroup = (typeof usageGroups)[number]

export const UsageQuery = z
  .object({
    starting_at: Timestamp.optional().describe(
      'From the hour or day (UTC) of this time on. When absent, 30 days before the end, or a day for hours.',
    ),
    ending_at: Timestamp.optional().describe('Before this time. Now, when absent.'),
    bucket_width: z.enum(['1h', '1d']).default('1d').describe('Hours or days, by UTC.'),
    group_by: TextList.pipe(z.array(z.enum(usageGroups)))
      .default([])
      .describe('What to tell apart: `model`, `agent_id`, `session_id`, `price`.'),
    format: z.enum(['json', 'csv']).optional().describe('In place of the header `accept`.'),
  })
  .meta({ id: 'UsageQuery', description: 'Which hours or days to report, and what to tell apart.' })
export type UsageQuery = z.infer<typeof UsageQuery>

const count = z.int()
const Price = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
})

const UsageResult = z.object({
  model: z.string().nullable().describe('Null where models are not told apart, as in the others.'),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  price: Price.nullable().describe(
    'US dollars for a million tokens. Null also where the model had no price.',
  ),
  requests: count.describe('Model requests that reported tokens.'),
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  list_cost: z
    .object({ amount: z.string(), currency: z.literal('USD') })
    .nullable()
    .describe('US cents with up to four decimals. Null where a request had no price.'),
})

export const UsageShown = z
  .object({
    type: z.literal('usage_report'),
    data: z.array(
      z.object({
        starting_at: z.string(),
        ending_at: z.string(),
        results: z.array(UsageResult),
      }),
    ),
    spend_limits: z
      .array(SpendSummaryShown)
      .describe('The spend limits that hold, and what was spent in their present periods.'),
  })
  .meta({ id: 'UsageReport', description: 'What the workspace has used, by hours or days.' })
export type UsageReport = z.infer<typeof UsageShown>
