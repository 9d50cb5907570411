/** The report of a workspace's usage, by hours or days, as JSON or CSV. */
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import type { UsageQuery, UsageReport } from '@steward/protocol/usage.ts'
import { invalid } from '../../ground/core/errors.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import { inExactCents } from '../../ground/core/text/money.ts'
import type { Reads } from '../../ground/database/database.ts'
import { emptySpan, resolveSpan } from './span.ts'
import type { UsageRow } from './store.ts'
import { mostUsageRows, readUsage } from './store.ts'

type UsageBucket = UsageReport['data'][number]
type UsageResult = UsageBucket['results'][number]

const widths = { '1h': hourMs, '1d': dayMs }
const usualMs = { '1h': dayMs, '1d': 30 * dayMs }
const mostBuckets = { '1h': 31 * 24, '1d': 400 }

export async function usageReport(
  db: Reads,
  tenant: string,
  { bucket_width: width, group_by: groups, ...asked }: UsageQuery,
  now: number,
): Promise<Omit<UsageReport, 'spend_limits'>> {
  const widthMs = widths[width]
  const { startMs, untilMs } = resolveSpan(asked, { now, usualMs: usualMs[width] })
  const fromMs = startMs - (startMs % widthMs)
  if (untilMs <= fromMs) throw emptySpan(asked)
  if ((untilMs - fromMs) / widthMs > mostBuckets[width])
    throw invalid(
      `ending_at: a report has at most ${mostBuckets[width]} buckets of ${width}; ask for a part of the time`,
    )
  const span = { fromMs, untilMs, widthMs }
  const rows = await readUsage(db, tenant, span, groups, mostUsageRows + 1)
  if (rows.length > mostUsageRows)
    throw invalid(
      `group_by: a report has at most ${mostUsageRows} results; ask for a part of the time, or group by fewer fields`,
    )
  const data: UsageBucket[] = []
  for (const row of rows) {
    const starting = iso(row.bucket_ms)
    if (data.at(-1)?.starting_at !== starting)
      data.push({ starting_at: starting, ending_at: iso(row.bucket_ms + widthMs), results: [] })
    data.at(-1)?.results.push(resultOf(row))
  }
  return { type: 'usage_report', data }
}

const resultOf = ({ bucket_ms: _, unpriced, price, list_cost, ...row }: UsageRow): UsageResult => ({
  model: row.model ?? null,
  agent_id: row.agent_id || null,
  session_id: row.session_id || null,
  api_key_id: row.api_key_id || null,
  price: price ? fromJson(price) : null,
  requests: row.requests,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cache_read_input_tokens: row.cache_read_input_tokens,
  cache_creation_input_tokens: row.cache_creation_input_tokens,
  list_cost: unpriced === 1 ? null : inExactCents(list_cost),
})

const head = [
  ...['starting_at', 'ending_at', 'model', 'agent_id', 'session_id', 'api_key_id'],
  ...['input_price', 'output_price', 'cache_read_price', 'cache_write_price', 'requests'],
  ...['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ...['list_cost_cents', 'currency'],
]

/** One line for each result. Null becomes an empty field. */
export const toCsv = ({ data }: Pick<UsageReport, 'data'>): string =>
  [head, ...data.flatMap((bucket) => bucket.results.map((result) => lineOf(bucket, result)))]
    .map((fields) => `${fields.map(fieldOf).join(',')}\r\n`)
    .join('')

const lineOf = (
  { starting_at, ending_at }: UsageBucket,
  { price, list_cost, ...of }: UsageResult,
) => [
  ...[starting_at, ending_at, of.model, of.agent_id, of.session_id, of.api_key_id],
  ...[price?.input, price?.output, price?.cacheRead, price?.cacheWrite, of.requests],
  ...[of.input_tokens, of.output_tokens],
  ...[of.cache_read_input_tokens, of.cache_creation_input_tokens],
  ...[list_cost?.amount, list_cost?.currency],
]

/** Attack: a workspace chooses names of models, and a spreadsheet runs a field that begins like a formula. */
function fieldOf(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
