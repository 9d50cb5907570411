/** Use of quotas by workspaces, counted by triggers and by units of changes. */
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import { defineStore } from '../../../ground/database/store-of.ts'

/** Quotas that triggers count with each inserted and deleted row. */
const countedQuotas = ['agents', 'memory_stores', 'stored_bytes'] as const
export type CountedQuota = (typeof countedQuotas)[number]

function useReads(db: Reads) {
  return {
    async used(tenant: string, name: string, period = ''): Promise<number> {
      const [row] = await selectRaw(
        db,
        sql<{ used: number }>`select cast(coalesce(sum(used), 0) as bigint) as used from (
          select used from quota_use where tenant_id = ${tenant} and name = ${name} and period = ${period}
          union all select added from quota_changes
            where tenant_id = ${tenant} and name = ${name} and ${period} = '') as parts`,
      )
      return row?.used ?? 0
    },
  }
}

function useWrites(db: Queries) {
  return {
    /** Like `used`, and locks the counter until the transaction ends. */
    async usedAlone(tenant: string, name: CountedQuota): Promise<number> {
      await db
        .insertInto('quota_use')
        .values({ tenant_id: tenant, name, period: '', used: 0 })
        .onConflict((on) =>
          on.columns(['tenant_id', 'name', 'period']).doUpdateSet({ used: sql`quota_use.used` }),
        )
        .execute()
      // A separate statement sees what was committed while the first one waited for its lock.
      return useReads(db).used(tenant, name)
    },

    /** Adds one to the counter of the period and removes earlier periods. False when the counter is at `most`. */
    async addWithin(
      tenant: string,
      name: string,
      { period, most }: { period: string; most: number },
    ): Promise<boolean> {
      await db
        .deleteFrom('quota_use')
        .where('tenant_id', '=', tenant)
        .where('name', '=', name)
        .where('period', '<', period)
        .execute()
      if (most < 1) return false
      const added = await db
        .insertInto('quota_use')
        .values({ tenant_id: tenant, name, period, used: 1 })
        .onConflict((on) =>
          on
            .columns(['tenant_id', 'name', 'period'])
            .doUpdateSet({ used: sql`quota_use.used + 1` })
            .where('quota_use.used', '<', most),
        )
        .returning('used')
        .execute()
      return added.length > 0
    },

    /** Recomputes the counters of triggers from the rows. */
    async recount(tenant: string): Promise<Record<CountedQuota, number>> {
      // Lock first, so that the next statement reads only committed changes.
      for (const name of countedQuotas) await useWrites(db).usedAlone(tenant, name)
      await sql`
        update quota_use set used = (select -coalesce(sum(added), 0) from quota_changes
            where tenant_id = ${tenant} and quota_changes.name = quota_use.name) + case name
          when 'agents' then (select count(*) from agents where tenant_id = ${tenant} and archived_at is null)
          when 'memory_stores' then (select count(*) from memory_stores
            where tenant_id = ${tenant} and archived_at is null and deleted_at is null)
          else (select coalesce(sum(size_bytes), 0) from skill_versions where tenant_id = ${tenant})
            + (select coalesce(sum(size), 0) from memories where tenant_id = ${tenant})
            + (select coalesce(sum(bytes), 0) from (select max(size_bytes) as bytes from files
                where tenant_id = ${tenant} and blob_key is not null group by blob_key) as blobs)
          end
        where tenant_id = ${tenant} and period = '' and name in (${sql.join(countedQuotas)})`.execute(
        db,
      )
      const used = { agents: 0, memory_stores: 0, stored_bytes: 0 }
      for (const name of countedQuotas) used[name] = await useReads(db).used(tenant, name)
      return used
    },
  }
}

export const quotaUseStore = defineStore(useReads, useWrites)
