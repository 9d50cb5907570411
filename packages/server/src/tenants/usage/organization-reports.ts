/** Reports of usage and costs of the caller's workspace, in the shapes of the official administration. */
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type {
  AnalyticsCost,
  AnalyticsUsage,
  CostReport,
  MessagesUsage,
  ReportGroup,
  UsageReportQuery,
} from '@steward/protocol/usage-reports.ts'
import {
  AnalyticsCostShown,
  AnalyticsReportQuery,
  AnalyticsUsageShown,
  CostReportShown,
  MessagesUsageShown,
  UsageReportQuery as Query,
} from '@steward/protocol/usage-reports.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../ground/core/text/cursor.ts'
import { invalid } from '../../ground/core/errors.ts'
import { inExactCents } from '../../ground/core/text/money.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { emptySpan, resolveSpan } from './span.ts'
import type { UsageRow } from './store.ts'
import { mostUsageRows, readUsage } from './store.ts'

const reports = section('Usage', ['admin'], '/v1/organizations')

/** Bucket widths: milliseconds, and the usual and the largest number of buckets on a page. */
const widths = {
  '1h': { ms: hourMs, usual: 24, most: 168 },
  '1d': { ms: dayMs, usual: 7, most: 31 },
}
const Position = z.tuple([z.int().min(0)])

type ReportRequest = { db: Reads; tenant: string; query: UsageReportQuery; now: number }
type ReportPage<Result> = {
  data: { starting_at: string; ending_at: string; results: Result[] }[]
  has_more: boolean
  next_page: string | null
}

/** A page of buckets in the order of time. Buckets without results are included. */
async function pageOf<Result>(
  scope: string,
  { db, tenant, query, now }: ReportRequest,
  show: (row: UsageRow, tellsApart: (group: ReportGroup) => boolean) => Result,
): Promise<ReportPage<Result>> {
  const { bucket_width: width, group_by, limit, page } = query
  if (width === '1m')
    throw invalid('bucket_width: usage is counted by hours: ask for 1h or 1d in place of 1m')
  const { ms, usual, most } = widths[width]
  const { startMs, untilMs } = resolveSpan(query, { now, usualMs: usual * ms })
  if (untilMs <= startMs) throw emptySpan(query)
  const walk = `${scope}/${width}`
  const [fromMs] =
    page === undefined ? [startMs - (startMs % ms)] : decodeCursor(page, walk, Position)
  const endMs = Math.min(fromMs + Math.min(limit ?? usual, most) * ms, untilMs)
  const groups = group_by.filter((group) => group !== 'workspace_id')
  const rows =
    endMs > fromMs
      ? await readUsage(
          db,
          tenant,
          { fromMs, untilMs: endMs, widthMs: ms },
          groups,
          mostUsageRows + 1,
        )
      : []
  if (rows.length > mostUsageRows)
    throw invalid(`limit: a page has at most ${mostUsageRows} results: ask for fewer buckets`)
  const byBucket = Map.groupBy(rows, ({ bucket_ms }) => bucket_ms)
  const data: ReportPage<Result>['data'] = []
  for (let at = fromMs; at < endMs; at += ms) {
    const found = byBucket.get(at) ?? []
    const results = found.map((row) => show(row, (group) => group_by.includes(group)))
    data.push({ starting_at: iso(at), ending_at: iso(at + ms), results })
  }
  const isMore = endMs < untilMs
  return { data, has_more: isMore, next_page: isMore ? encodeCursor(walk, [endMs]) : null }
}

const groupsOf = (row: UsageRow, tenant: string, tellsApart: (group: ReportGroup) => boolean) => ({
  workspace_id: tellsApart('workspace_id') ? tenant : null,
  model: row.model ?? null,
  agent_id: row.agent_id || null,
  session_id: row.session_id || null,
})

const noDetails = { service_tier: null, context_window: null } as const

/** What the official analytics tell apart and this service does not. */
const notApart = {
  claude_tag_category: null,
  claude_tag_user_id: null,
  context_window: null,
  inference_geo: null,
  product: null,
  rbac_group_id: null,
  slack_channel_id: null,
  speed: null,
} as const

const tokensOf = (row: UsageRow) => ({
  uncached_input_tokens: row.input_tokens,
  cache_creation: {
    ephemeral_1h_input_tokens: 0,
    ephemeral_5m_input_tokens: row.cache_creation_input_tokens,
  },
  cache_read_input_tokens: row.cache_read_input_tokens,
  output_tokens: row.output_tokens,
  server_tool_use: { web_search_requests: 0 },
  requests: row.requests,
})

const costOf = (row: UsageRow) => ({
  ...inExactCents(row.list_cost),
  is_complete: row.unpriced === 0,
  cost_type: 'tokens' as const,
  token_type: null,
})

export const organizationReportRoutes = ({ clock }: Ground): Route[] => [
  reports.get(
    '/usage_report/messages',
    {
      summary: 'Report the tokens of the workspace, bucket by bucket',
      query: Query,
      answer: MessagesUsageShown,
    },
    ({ db, tenant, query }): Promise<MessagesUsage> =>
      pageOf('usage', { db: db.read, tenant, query, now: clock.now() }, (row, tellsApart) => ({
        ...groupsOf(row, tenant, tellsApart),
        ...tokensOf(row),
        api_key_id: row.api_key_id || null,
        ...noDetails,
      })),
  ),
  reports.get(
    '/cost_report',
    {
      summary: 'Report the cost of the workspace at list prices, bucket by bucket',
      query: Query,
      answer: CostReportShown,
    },
    ({ db, tenant, query }): Promise<CostReport> =>
      pageOf('cost', { db: db.read, tenant, query, now: clock.now() }, (row, tellsApart) => ({
        ...groupsOf(row, tenant, tellsApart),
        ...costOf(row),
        description: null,
        ...noDetails,
      })),
  ),
  ...analyticsRoutes(clock),
]

/** The reports that the official client asks for. */
const analyticsRoutes = (clock: Clock): Route[] => [
  reports.get(
    '/analytics/usage_report',
    {
      summary: 'Report the tokens of the workspace, as the official client asks for it',
      query: AnalyticsReportQuery,
      answer: AnalyticsUsageShown,
    },
    async ({ db, tenant, query }): Promise<AnalyticsUsage> => {
      const now = clock.now()
      const asked = { db: db.read, tenant, query, now }
      const page = await pageOf('analytics_usage', asked, (row, tellsApart) => ({
        ...groupsOf(row, tenant, tellsApart),
        ...tokensOf(row),
        ...notApart,
      }))
      return { ...page, data_refreshed_at: null }
    },
  ),
  reports.get(
    '/analytics/cost_report',
    {
      summary: 'Report the cost of the workspace, as the official client asks for it',
      query: AnalyticsReportQuery,
      answer: AnalyticsCostShown,
    },
    async ({ db, tenant, query }): Promise<AnalyticsCost> => {
      const now = clock.now()
      const asked = { db: db.read, tenant, query, now }
      const page = await pageOf('analytics_cost', asked, (row, tellsApart) => ({
        ...groupsOf(row, tenant, tellsApart),
        ...costOf(row),
        list_amount: inExactCents(row.list_cost).amount,
        requests: row.requests,
        ...notApart,
      }))
      return { ...page, data_refreshed_at: null }
    },
  ),
]
