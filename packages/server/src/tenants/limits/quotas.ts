/** Quotas of workspaces, and the refusal of changes that would exceed them. */
import { dayMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { QuotaName } from '@steward/protocol/quotas.ts'
import { forbidden, invalid } from '../../ground/core/errors.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { EffectiveQuota, LimitRow, ServerQuotas } from './effective-limits.ts'
import { effectiveQuota } from './effective-limits.ts'
import type { LimitsCache } from './limits-cache.ts'
import type { CountedQuota } from './use/store.ts'
import { quotaUseStore } from './use/store.ts'

/**
 * Call it in the unit of a change, before the change: rejects when `added` exceeds the quota of the workspace. The
 * counter stays locked until the commit, so that concurrent changes never exceed the quota.
 */
export type CheckRoom = (tx: Queries, added: number) => Promise<void>

export type Quotas = {
  held(tenant: string, name: QuotaName): Promise<EffectiveQuota>
  /** The cached quota, at once; null when there is no limit, or the workspace was not read yet. */
  known(tenant: string, name: QuotaName): number | null
  /** The check for a unit. Call `room` before the unit. */
  room(tenant: string, name: CountedQuota): Promise<CheckRoom>
  /** Rejects when the quota is full. Call it before an upload, whose bytes could not be stored. */
  hasRoom(db: Reads, tenant: string, name: CountedQuota): Promise<void>
  /** The count for a unit that creates a session: rejects beyond the quota. Call `daily` before the unit. */
  daily(tenant: string): Promise<(tx: Queries) => Promise<void>>
  /** Calls the listener after each change of limits. */
  onChange(listener: () => void): void
}

const remedies = {
  agents: 'archive agents that are not needed',
  memory_stores: 'archive memory stores that are not needed',
  stored_bytes: 'delete files, versions of skills or memories',
} as const satisfies Record<CountedQuota, string>

const asker = 'or ask an admin of the workspace or the operator for more'

function checkUse(name: CountedQuota, most: number, used: number, added: number): void {
  if (used + added <= most) return
  const numbers = `the quota ${name} of this workspace is ${most}: ${used} are used, and this needs ${added} more`
  const message = `${numbers}; ${remedies[name]}, ${asker}`
  throw name === 'stored_bytes'
    ? invalid(message, 'storage_quota_exceeded')
    : forbidden(message, 'quota_exceeded')
}

const unlimited = async () => {}

/** The day in UTC, as `2030-01-31`. */
export const dayOf = (now: number): string => iso(now).slice(0, 10)

export function quotasOver(
  workspaces: Pick<LimitsCache<{ rows: readonly LimitRow[] }>, 'read' | 'peek' | 'onChange'>,
  server: ServerQuotas,
  clock: Clock,
): Quotas {
  const held = async (tenant: string, name: QuotaName) =>
    effectiveQuota(server, (await workspaces.read(tenant)).rows, name)

  return {
    held,
    known: (tenant, name) =>
      effectiveQuota(server, workspaces.peek(tenant)?.rows ?? [], name).value,
    async room(tenant, name) {
      const { value } = await held(tenant, name)
      if (value === null) return unlimited
      return async (tx, added) => {
        if (added <= 0) return
        checkUse(name, value, await quotaUseStore(tx).usedAlone(tenant, name), added)
      }
    },
    async hasRoom(db, tenant, name) {
      const { value } = await held(tenant, name)
      if (value !== null) checkUse(name, value, await quotaUseStore(db).used(tenant, name), 1)
    },
    async daily(tenant) {
      const { value } = await held(tenant, 'sessions_daily')
      if (value === null) return unlimited
      return async (tx) => {
        const period = dayOf(clock.now())
        const isCounted = await quotaUseStore(tx).addWithin(tenant, 'sessions_daily', {
          period,
          most: value,
        })
        if (isCounted) return
        const next = iso(Date.parse(period) + dayMs)
        throw forbidden(
          `the quota sessions_daily of this workspace is ${value}, and all are used: create sessions again from ${next} on, ${asker}`,
          'quota_exceeded',
        )
      }
    },
    onChange: workspaces.onChange,
  }
}
