/** Spend limits, checked before each model request. A workspace without a limit costs no statement. */
import { iso } from '@steward/base/time.ts'
import type { SpendPeriod, SpendSummary } from '@steward/protocol/spend-limits.ts'
import type { WebhookKind } from '@steward/protocol/webhooks.ts'
import { spendPeriods } from '@steward/protocol/spend-limits.ts'
import { inExactCents } from '../../../ground/core/text/money.ts'
import type { Ground } from '../../../ground/ground.ts'
import { outbox } from '../../webhooks/outbox.ts'
import type { LimitsCache } from '../limits-cache.ts'
import { commitMs, periodEnd, periodName, recentSpend } from './recent-spend.ts'
import type { SpendRow } from './store.ts'
import { spendLimitStore } from './store.ts'

/** The effective spend limit of a period, which is the lowest. `units`: millionths of a US dollar. */
export type SpendCap = Pick<SpendRow, 'id' | 'period' | 'source'> & { units: number }

export type Spending = {
  /**
   * The reason why no model may be asked now. Undefined without a promise: the workspace has no spend limit. Costs at
   * most three statements a second in a process, and none without a limit.
   */
  refusal(tenant: string, isPriced: boolean): undefined | Promise<string | undefined>
  /** Counts the cost of a request before its commit, in millionths of a US dollar. */
  add(tenant: string, units: number): void
  isLimited(tenant: string): Promise<boolean>
  summaries(tenant: string): Promise<SpendSummary[]>
}

export function buildSpendCaps(rows: readonly SpendRow[]): SpendCap[] {
  return spendPeriods.flatMap((wanted) => {
    const [lowest] = rows
      .flatMap(({ id, period, source, amount, is_enabled }) =>
        period === wanted && is_enabled === 1 && amount !== null
          ? [{ id, period, source, units: amount }]
          : [],
      )
      .toSorted((a, b) => a.units - b.units)
    return lowest ? [lowest] : []
  })
}

const noPrice =
  'the model has no price, so the spend limit of this workspace cannot be held: set native_config.cost of its model card (0 where it costs nothing), or remove the limit'

const spans: Record<SpendPeriod, string> = { daily: 'a day', monthly: 'a month' }

/** A share of a limit that a webhook tells. `mark`: part of the name under which it is noted as told. */
type SpentShare = { of: number; mark: string; kind: WebhookKind }
const reachedWhole: SpentShare = { of: 1, mark: '', kind: 'workspace.spend_limit_reached' }
const spentShares: readonly SpentShare[] = [
  { of: 0.5, mark: '_half', kind: 'workspace.spend_limit_half_spent' },
  { of: 0.8, mark: '_nearly', kind: 'workspace.spend_limit_nearly_spent' },
]

export function spendingOver({
  databases,
  clock,
  known,
}: Ground & {
  known: LimitsCache<{ caps: readonly SpendCap[] }>
}): Spending {
  const spent = recentSpend(async (tenant, span) => {
    const { read } = await databases.open(tenant)
    return spendLimitStore(read).spent(tenant, span)
  }, clock)
  /** Amounts whose webhook this process knows to be sent, by tenant and period. */
  const told = new Map<string, string>()

  async function reachedBy(tenant: string, caps: readonly SpendCap[]) {
    const now = await spent.read(tenant)
    const cap = caps.find(({ period, units }) => now[period] >= units)
    return cap && { cap, isUnsure: now.isUnsure, spent: now[cap.period] }
  }

  async function refusalReason(tenant: string, isPriced: boolean): Promise<string | undefined> {
    const { caps } = await known.read(tenant)
    if (caps.length === 0) return undefined
    if (!isPriced) return noPrice
    let reached = await reachedBy(tenant, caps)
    while (reached?.isUnsure) {
      // A request that ended just now may count twice, in memory and in the database: wait for its commit.
      const now = clock.now()
      await clock.sleep(commitMs, new AbortController().signal)
      spent.forget(tenant, now)
      reached = await reachedBy(tenant, caps)
    }
    await tellShares(tenant, caps)
    if (!reached) return undefined
    await tell(tenant, reached.cap, reachedWhole)
    const { period, units, source } = reached.cap
    const [most, sum] = [inExactCents(units).amount, inExactCents(reached.spent).amount]
    const again = iso(periodEnd(period, clock.now()))
    return `the spend limit of this workspace, set by the ${source}, is ${most} US cents ${spans[period]}, and ${sum} are spent: its sessions go on from ${again} on, or once the limit is raised`
  }

  /** Tells that a part of a limit is spent, before the whole of it is. */
  async function tellShares(tenant: string, caps: readonly SpendCap[]): Promise<void> {
    const now = await spent.read(tenant)
    if (now.isUnsure) return
    for (const cap of caps)
      for (const share of spentShares)
        if (now[cap.period] >= cap.units * share.of) await tell(tenant, cap, share)
  }

  /** Sends the webhook once for each amount of a period, across all processes. */
  async function tell(
    tenant: string,
    { period, units }: SpendCap,
    { mark, kind }: SpentShare,
  ): Promise<void> {
    const now = clock.now()
    const [key, value] = [`${tenant} ${period}${mark}`, `${periodName(period, now)} ${units}`]
    if (told.get(key) === value) return
    const database = await databases.open(tenant)
    await database.write(async (tx) => {
      const name = `spend_told_${period}${mark}`
      if (await spendLimitStore(tx).markTold(tenant, name, periodName(period, now), units))
        await outbox(tx).put(tenant, [kind], { id: tenant }, now)
    })
    if (told.size >= 10_000) told.clear()
    told.set(key, value)
  }

  return {
    refusal(tenant, isPriced) {
      const caps = known.peek(tenant)?.caps
      return caps?.length === 0 ? undefined : refusalReason(tenant, isPriced)
    },
    add: (tenant, units) => spent.add(tenant, units),
    isLimited: async (tenant) => (await known.read(tenant)).caps.length > 0,
    async summaries(tenant) {
      const { caps } = await known.read(tenant)
      if (caps.length === 0) return []
      const now = await spent.read(tenant)
      const scope = { type: 'workspace', workspace_id: tenant } as const
      const actor = { type: 'scoped_api_key_actor', scoped_api_key_id: tenant } as const
      return caps.map(({ id, period, source, units }) => ({
        spend_limit_id: id,
        actor,
        scope,
        source: scope,
        set_by: source,
        amount: inExactCents(units).amount,
        currency: 'USD',
        period,
        period_to_date_spend: inExactCents(now[period]).amount,
      }))
    },
  }
}
