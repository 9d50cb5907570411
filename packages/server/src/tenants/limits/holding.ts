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

/** What holds where neither the operator nor the workspace has set anything. What is left out has no limit. */
export type ServerQuotas = Partial<Record<QuotaName, number>>

/** What tenants share of a process. An operator may allow a workspace less than the server does, and not more. */
const shared: readonly QuotaName[] = ['sessions_running', 'sandboxes', 'streams', 'tunnels']

export type HeldQuota = {
  /** The lower of the two; null: no limit. */
  value: number | null
  source: 'server' | 'operator' | 'workspace'
  /** The most that the workspace may set. */
  allowed: number | null
  own: number | undefined
}

export function heldQuota(
  server: ServerQuotas,
  rows: readonly LimitRow[],
  name: QuotaName,
): HeldQuota {
  const usual = server[name] ?? null
  const given = rowOf(rows, name, 'operator')?.value
  const isGiven = given !== undefined && !(shared.includes(name) && usual !== null && usual < given)
  const allowed = isGiven ? given : usual
  const own = rowOf(rows, name, 'workspace')?.value
  if (own !== undefined && (allowed === null || own <= allowed))
    return { value: own, source: 'workspace', allowed, own }
  return { value: allowed, source: isGiven ? 'operator' : 'server', allowed, own }
}
