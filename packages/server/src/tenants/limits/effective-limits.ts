/** Effective limits of a workspace: the operator's limit, or the workspace's own where that is lower. */
import type { Rate, Rates, RequestClass } from '../../ground/core/fairness/rates.ts'
import type { QuotaName } from '@steward/protocol/quotas.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type LimitRow = Pick<Tables['workspace_limits'], 'name' | 'source' | 'value' | 'period_ms'>

export type EffectiveRate = {
  /** The operator's limit, or the server's. */
  ceiling: Rate
  /** The workspace's own limit, in the period of the ceiling. */
  own: number | undefined
}

const rowOf = (rows: readonly LimitRow[], name: string, source: LimitRow['source']) =>
  rows.find((row) => row.name === name && row.source === source)

/** Undefined when the server does not limit the class. */
export function effectiveRate(
  server: Rates,
  rows: readonly LimitRow[],
  of: RequestClass,
): EffectiveRate | undefined {
  const usual = server[of]
  if (!usual) return undefined
  const allowed = rowOf(rows, of, 'operator')
  const ceiling = allowed ? { limit: allowed.value, periodMs: allowed.period_ms } : usual
  const own = rowOf(rows, of, 'workspace')
  return { ceiling, own: own && inPeriod(own, ceiling.periodMs) }
}

/** Converts a limit to another period: the operator may change the period after the workspace set its limit. */
const inPeriod = ({ value, period_ms }: LimitRow, periodMs: number): number =>
  Math.max(1, Math.floor((value * periodMs) / period_ms))

/** The lower of ceiling and own limit. */
export const lowerRate = ({ ceiling, own = ceiling.limit }: EffectiveRate): Rate => ({
  limit: Math.min(own, ceiling.limit),
  periodMs: ceiling.periodMs,
})

/** Quotas of the server, for workspaces without a limit of their own. An absent name has no limit. */
export type ServerQuotas = Partial<Record<QuotaName, number>>

/** Quotas whose resource tenants share in a process. An operator can lower them for a workspace, and not raise them. */
const shared: readonly QuotaName[] = [
  'sessions_running',
  'sandboxes',
  'streams',
  'messages',
  'tunnels',
]

export type EffectiveQuota = {
  /** The effective limit; null: no limit. */
  value: number | null
  source: 'server' | 'operator' | 'workspace'
  /** Upper bound of `own`, by operator and server; null: no bound. */
  allowed: number | null
  own: number | undefined
}

export function effectiveQuota(
  server: ServerQuotas,
  rows: readonly LimitRow[],
  name: QuotaName,
): EffectiveQuota {
  const usual = server[name] ?? null
  const given = rowOf(rows, name, 'operator')?.value
  const isGiven = given !== undefined && !(shared.includes(name) && usual !== null && usual < given)
  const allowed = isGiven ? given : usual
  const own = rowOf(rows, name, 'workspace')?.value
  if (own !== undefined && (allowed === null || own <= allowed))
    return { value: own, source: 'workspace', allowed, own }
  return { value: allowed, source: isGiven ? 'operator' : 'server', allowed, own }
}
