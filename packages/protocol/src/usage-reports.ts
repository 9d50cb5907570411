/** The usage and the costs of a workspace, in the shapes of the vendor's organisation reports. */
import { z } from 'zod'
import { Timestamp, extension, listOfWords, wholeNumberFrom } from './primitives.ts'
import { quoteValue } from './problems.ts'

export const reportGroups = [
  'workspace_id',
  'model',
  'agent_id',
  'session_id',
  'api_key_id',
] as const
export type ReportGroup = (typeof reportGroups)[number]
export const reportWidths = ['1m', '1h', '1d'] as const

const groups = z.array(
  z.enum(reportGroups, {
    error: ({ input }) =>
      `${quoteValue(input)} is not told apart here; the groups are ${reportGroups.join(', ')}`,
  }),
)

export const UsageReportQuery = z
  .object({
    starting_at: Timestamp.optional().describe(
      'From the hour or day (UTC) of this time on. When absent, 7 days or 24 hours before the end.',
    ),
    ending_at: Timestamp.optional().describe('Before this time. Now, when absent.'),
    bucket_width: z
      .enum(reportWidths)
      .default('1d')
      .describe('`1h` or `1d`, by UTC. Usage is counted by hours, so that `1m` is refused.'),
    group_by: listOfWords(reportGroups)
      .pipe(groups)
      .default([])
      .describe(
        'What to tell apart: `workspace_id`, `model`, `agent_id`, `session_id`, `api_key_id`.',
      ),
    limit: wholeNumberFrom(1)
      .optional()
      .describe(
        'Buckets in a page: 7 of `1d` when absent and 31 at most, 24 of `1h` and 168 at most; more is taken as that.',
      ),
    page: z.string().optional().describe('The `next_page` of the page before.'),
  })
  .meta({
    id: 'UsageReportQuery',
    description: 'Which buckets of a report, and what it tells apart.',
  })
export type UsageReportQuery = z.infer<typeof UsageReportQuery>

const noFilter = z
  .never({ error: 'is no filter of this service: ask with group_by, and choose from the results' })
  .optional()
  .describe('Refused: not a filter of this service.')

/** Filters of the official reports are refused by name where this service does not tell apart. */
export const AnalyticsReportQuery = UsageReportQuery.extend({
  claude_tag_categories: noFilter,
  claude_tag_user_ids: noFilter,
  context_windows: noFilter,
  inference_geos: noFilter,
  models: noFilter,
  products: noFilter,
  rbac_group_ids: noFilter,
  slack_channel_ids: noFilter,
  speeds: noFilter,
  user_ids: noFilter,
}).meta({
  id: 'AnalyticsReportQuery',
  description: 'Which buckets of a report, and what it tells apart.',
})

const count = z.int()
const never = z.null().describe('Always null: not told apart here.')
const grouped = {
  workspace_id: z.string().nullable().describe('Null where it is not told apart, as the others.'),
  model: z.string().nullable().describe('The model, or null.'),
  agent_id: z.string().nullable().meta(extension('The agent of the session.')),
  session_id: z.string().nullable().meta(extension('The session.')),
}

const bucketsOf = <Result extends z.ZodType>(results: Result) =>
  z.object({
    data: z.array(
      z.object({
        starting_at: z.string().describe('When the bucket begins.'),
        ending_at: z.string().describe('When the bucket ends.'),
        results: z.array(results).describe('One for each combination of what is told apart.'),
      }),
    ),
    has_more: z.boolean().describe('Whether there is a next page.'),
    next_page: z.string().nullable().describe('Send it as `page` for the next page.'),
  })

export const MessagesUsageShown = bucketsOf(
  z.object({
    ...grouped,
    uncached_input_tokens: count.describe('Tokens that models read, cached ones excepted.'),
    cache_creation: z
      .object({
        ephemeral_1h_input_tokens: count.describe('Always 0.'),
        ephemeral_5m_input_tokens: count.describe('All tokens that were written to a cache.'),
      })
      .describe('Tokens that were written to a cache.'),
    cache_read_input_tokens: count.describe('Tokens that were read from a cache.'),
    output_tokens: count.describe('Tokens that models wrote.'),
    server_tool_use: z
      .object({ web_search_requests: count.describe('Always 0.') })
      .describe('Calls of tools that a provider runs.'),
    requests: count.meta(extension('Model requests that reported tokens.')),
    api_key_id: z
      .string()
      .nullable()
      .describe('The key, or the person, that asked by `/v1/messages`, or null.'),
    service_tier: never,
    context_window: never,
  }),
).meta({ id: 'MessagesUsageReport', description: 'Tokens, bucket by bucket.' })
export type MessagesUsage = z.infer<typeof MessagesUsageShown>

export const CostReportShown = bucketsOf(
  z.object({
    ...grouped,
    amount: z.string().describe('US cents with up to four decimals, of requests with a price.'),
    currency: z.literal('USD'),
    is_complete: z.boolean().meta(extension('Whether all requests had a price.')),
    cost_type: z.literal('tokens'),
    description: never,
    token_type: never,
    service_tier: never,
    context_window: never,
  }),
).meta({ id: 'CostReport', description: 'Costs at list prices, bucket by bucket.' })
export type CostReport = z.infer<typeof CostReportShown>

const apart = {
  claude_tag_category: never,
  claude_tag_user_id: never,
  context_window: never,
  inference_geo: never,
  product: never,
  rbac_group_id: never,
  slack_channel_id: never,
  speed: never,
}

const refreshed = {
  data_refreshed_at: z.null().describe('Always null: reports are never behind.'),
}

const AnalyticsUsageResult = MessagesUsageShown.shape.data.element.shape.results.element
  .omit({ api_key_id: true, service_tier: true, context_window: true })
  .extend({ ...apart, requests: count.describe('Model requests that reported tokens.') })

export const AnalyticsUsageShown = bucketsOf(AnalyticsUsageResult)
  .extend(refreshed)
  .meta({ id: 'AnalyticsUsageReport', description: 'Tokens, bucket by bucket.' })
export type AnalyticsUsage = z.infer<typeof AnalyticsUsageShown>

const AnalyticsCostResult = CostReportShown.shape.data.element.shape.results.element
  .omit({ description: true, service_tier: true, context_window: true })
  .extend({
    ...apart,
    list_amount: z.string().describe('The same as `amount`: costs are at list prices.'),
    requests: count.describe('Model requests that reported tokens.'),
  })

export const AnalyticsCostShown = bucketsOf(AnalyticsCostResult)
  .extend(refreshed)
  .meta({ id: 'AnalyticsCostReport', description: 'Costs at list prices, bucket by bucket.' })
export type AnalyticsCost = z.infer<typeof AnalyticsCostShown>
