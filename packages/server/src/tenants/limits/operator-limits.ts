/** Limits that the operator sets for a workspace in place of the server's. */
import { largestQuota, quotaNames } from '@steward/protocol/quotas.ts'
import { spendAmount, spendPeriods } from '@steward/protocol/spend-limits.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { centsToUnits } from '../../ground/core/text/money.ts'
import { parseRate, requestClasses } from '../../ground/core/fairness/rates.ts'
import type { OpenDatabases } from '../../ground/database/database.ts'
import { workspaceId } from '../workspaces/create.ts'
import { spendLimitStore } from './spending/store.ts'
import { workspaceLimitStore } from './store.ts'
import { quotaUseStore } from './use/store.ts'

/** `value`: a limit, or `default` for the server's. `workspace`: an id or a name. */
export function setLimit(
  { databases, clock }: { databases: OpenDatabases; clock: Clock },
  { workspace, name, value }: { workspace: string; name: string; value: string },
): Promise<{ workspace: string; limit: string; value: string }> {
  const limit = limitNamed(name, value)
  return databases.control.write(async (tx) => {
    const tenant = await workspaceId(tx, workspace)
    const store = workspaceLimitStore(tx)
    if (limit) await store.set(tenant, { name, source: 'operator', ...limit }, clock.now())
    else await store.remove(tenant, { name, source: 'operator' })
    return { workspace: tenant, limit: name, value }
  })
}

/** Sets the operator's spend limit of a workspace; `default` removes it. */
export async function setSpendLimit(
  { databases, clock }: { databases: OpenDatabases; clock: Clock },
  { workspace, period, amount }: { workspace: string; period: string; amount: string },
): Promise<{ workspace: string; period: string; amount: string }> {
  const wanted = spendPeriods.find((each) => each === period)
  if (!wanted)
    throw new Error(`${period} is not a period; the periods are ${spendPeriods.join(', ')}`)
  const isNumber = spendAmount.safeParse(amount).success
  if (!isNumber && amount !== 'default')
    throw new Error(
      `${JSON.stringify(amount)} is no amount: write a whole number of cents, such as 5000 for 50 US dollars, or default`,
    )
  const units = isNumber ? centsToUnits(amount) : undefined
  return databases.control.write(async (tx) => {
    const tenant = await workspaceId(tx, workspace)
    const store = spendLimitStore(tx)
    const at = iso(clock.now())
    const key = { tenant_id: tenant, period: wanted, source: 'operator' } as const
    await store.remove(tenant, key)
    if (units !== undefined)
      await store.set({
        ...key,
        id: newId('spend_limit'),
        amount: units,
        is_enabled: 1,
        created_at: at,
        updated_at: at,
      })
    return { workspace: tenant, period: wanted, amount }
  })
}

/** Counts anew what the workspace uses, and returns the counts. */
export async function recountQuotas(
  { databases }: { databases: OpenDatabases },
  workspace: string,
): Promise<{ workspace: string; used: Record<string, number> }> {
  const tenant = await databases.control.write((tx) => workspaceId(tx, workspace))
  const database = await databases.open(tenant)
  const used = await database.write((tx) => quotaUseStore(tx).recount(tenant))
  return { workspace: tenant, used }
}

export const isQuota = (name: string): boolean => quotaNames.some((each) => each === name)

/** Undefined for `default`. */
function limitNamed(name: string, value: string): { value: number; period_ms: number } | undefined {
  const isRate = requestClasses.some((each) => each === name)
  if (!isRate && !isQuota(name))
    throw new Error(
      `${name} is not a limit; the limits are ${[...requestClasses, ...quotaNames].join(', ')}`,
    )
  if (value === 'default') return undefined
  if (isRate) {
    const { limit, periodMs } = parseRate(value)
    return { value: limit, period_ms: periodMs }
  }
  if (!/^\d{1,16}$/.test(value) || Number(value) > largestQuota)
    throw new Error(`${JSON.stringify(value)} is not a number of ${name}: write a whole number`)
  return { value: Number(value), period_ms: 0 }
}
