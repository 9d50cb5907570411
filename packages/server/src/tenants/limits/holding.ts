/** Which limits hold for a workspace: what the operator allows it, and less where the workspace has set less itself. */
import type { Rate, Rates, RequestClass } from '../../ground/core/rates.ts'
import type { QuotaName } from '@steward/protocol/quotas.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type LimitRow = Pick<Tables['workspace_limits'], 'name' | 'source' | 'value' | 'period_ms'>

export type HeldRate = {
  /** What the operator allows. */
  ceiling: Rate
  /** What the workspace has set, in the unit of the ceiling. */
  own: number | undefined
}

const rowOf = (rows: readonly LimitRow[], name: string, source: LimitRow['source']) =>
  rows.find((row) => row.name === name && row.source === source)

/** Undefined where the server does not limit the class. */
export function heldRate(
  server: Rates,
  rows: readonly LimitRow[],
  of: RequestClass,
): HeldRate | undefined {
  const usual = server[of]
  if (!usual) return undefined
  const allowed = rowOf(rows, of, 'operator')
  const ceiling = allowed ? { limit: allowed.value, periodMs: allowed.period_ms } : usual
  const own = rowOf(rows, of, 'workspace')
  return { ceiling, own: own && inPeriod(own, ceiling.periodMs) }
}

/** The operator may change the unit after the workspace has set its limit. */
const inPeriod = ({ value, period_ms }: LimitRow, periodMs: number): number =>
  Math.max(1, Math.floor((value * periodMs) / period_ms))

/** The lower of the two. */
export const rateOf = ({ ceiling, own = ceiling.limit }: HeldRate): Rate => ({
  limit: Math.min(own, ceiling.limit),
  periodMs: ceiling.periodMs,
})

/** Null: no limit. Without a row of the operator there is none. */
export const heldQuota = (rows: readonly LimitRow[], name: QuotaName) => ({
  allowed: rowOf(rows, name, 'operator')?.value ?? null,
  own: rowOf(rows, name, 'workspace')?.value,
})

/** The lower of the two; null: no limit. */
export function quotaOf(rows: readonly LimitRow[], name: QuotaName): number | null {
  const { allowed, own } = heldQuota(rows, name)
  if (allowed === null || own === undefined) return allowed ?? own ?? null
  return Math.min(allowed, own)
}
