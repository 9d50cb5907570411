import { z } from 'zod'
import { SpendSummaryShown } from './spend-limits.ts'
import { Timestamp, WordList } from './primitives.ts'

export const usageGroups = ['model', 'agent_id', 'session_id', 'api_key_id', 'price'] as const
export type UsageGroup = (typeof usageGroups)[number]

export const UsageQuery = z
  .object({
    starting_at: Timestamp.optional().describe(
      'From the hour or day (UTC) of this time on. When absent, 30 days before the end, or a day for hours.',
    ),
    ending_at: Timestamp.optional().describe('Before this time. Now, when absent.'),
    bucket_width: z.enum(['1h', '1d']).default('1d').describe('Hours or days, by UTC.'),
    group_by: WordList(usageGroups)
      .default([])
      .describe('What to tell apart: `model`, `agent_id`, `session_id`, `api_key_id`, `price`.'),
    format: z.enum(['json', 'csv']).optional().describe('In place of the header `accept`.'),
  })
  .meta({ id: 'UsageQuery', description: 'Which hours or days to report, and what to tell apart.' })
export type UsageQuery = z.infer<typeof UsageQuery>

const count = z.int()
const Price = z.object({
  input: z.number().describe('For tokens that the model reads.'),
  output: z.number().describe('For tokens that the model writes.'),
  cacheRead: z.number().describe('For tokens that are read from a cache.'),
  cacheWrite: z.number().describe('For tokens that are written to a cache.'),
})

const UsageResult = z.object({
  model: z.string().nullable().describe('Null where models are not told apart, as in the others.'),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  api_key_id: z
    .string()
    .nullable()
    .describe('The key, or the person, that asked by `/v1/messages`. Null for sessions.'),
  price: Price.nullable().describe(
    'US dollars for a million tokens. Null also where the model had no price.',
  ),
  requests: count.describe('Model requests that reported tokens.'),
  input_tokens: count.describe('Tokens that models read, cached ones excepted.'),
  output_tokens: count.describe('Tokens that models wrote.'),
  cache_read_input_tokens: count.describe('Tokens that were read from a cache.'),
  cache_creation_input_tokens: count.describe('Tokens that were written to a cache.'),
  list_cost: z
    .object({ amount: z.string().describe('US cents, as text.'), currency: z.literal('USD') })
    .nullable()
    .describe('US cents with up to four decimals. Null where a request had no price.'),
})

export const UsageShown = z
  .object({
    type: z.literal('usage_report'),
    data: z.array(
      z.object({
        starting_at: z.string().describe('When the hour or day begins.'),
        ending_at: z.string().describe('When the hour or day ends.'),
        results: z.array(UsageResult).describe('One for each combination of what is told apart.'),
      }),
    ),
    spend_limits: z
      .array(SpendSummaryShown)
      .describe('The spend limits that hold, and what was spent in their present periods.'),
  })
  .meta({ id: 'UsageReport', description: 'What the workspace has used, by hours or days.' })
export type UsageReport = z.infer<typeof UsageShown>
