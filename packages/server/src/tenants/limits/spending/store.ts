import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'

export type SpendRow = Tables['spend_limits']
type SpendLimitKey = Pick<SpendRow, 'period' | 'source'>

function spendReads(db: Reads) {
  return {
    all: (tenant: string): Promise<SpendRow[]> =>
      db
        .selectFrom('spend_limits')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .orderBy('period')
        .orderBy('source')
        .execute(),

    /** Millionths of a US dollar spent from the hour `fromMs` up to, and without, the hour `untilMs`. */
    async spent(tenant: string, { fromMs, untilMs }: { fromMs: number; untilMs?: number }) {
      const before = untilMs === undefined ? sql`` : sql`and hour_ms < ${untilMs}`
      const of = (table: 'usage_hours' | 'message_usage') => sql`
        select list_cost from ${sql.table(table)}
        where tenant_id = ${tenant} and hour_ms >= ${fromMs} ${before}`
      const [row] = await selectRaw(
        db,
        sql<{ units: string | number | null }>`
        select sum(list_cost) as units
        from (${of('usage_hours')} union all ${of('message_usage')}) as used`,
      )
      return Number(row?.units ?? 0)
    },
  }
}

function spendWrites(db: Queries) {
  return {
    /** Sets the limit of the row's period and source. A limit that is there keeps its id. */
    async set(row: SpendRow): Promise<SpendRow> {
      const { amount, is_enabled, updated_at } = row
      const set = await db
        .insertInto('spend_limits')
        .values(row)
        .onConflict((on) =>
          on
            .columns(['tenant_id', 'period', 'source'])
            .doUpdateSet({ amount, is_enabled, updated_at }),
        )
        .returningAll()
        .executeTakeFirstOrThrow()
      const { id, period, source } = set
      auditChange({ type: 'spend_limit', id, after: { period, source, amount } })
      return set
    },

    async update(
      tenant: string,
      { period, source }: SpendLimitKey,
      change: Partial<Pick<SpendRow, 'amount' | 'is_enabled'>>,
      now: number,
    ): Promise<void> {
      await db
        .updateTable('spend_limits')
        .set({ ...change, updated_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('period', '=', period)
        .where('source', '=', source)
        .execute()
      auditChange({ type: 'spend_limit', after: { ...change, period, source } })
    },

    async remove(tenant: string, { period, source }: SpendLimitKey): Promise<void> {
      const gone = await db
        .deleteFrom('spend_limits')
        .where('tenant_id', '=', tenant)
        .where('period', '=', period)
        .where('source', '=', source)
        .returning(['id', 'amount'])
        .execute()
      for (const { id, amount } of gone)
        auditChange({ type: 'spend_limit', id, before: { period, source, amount } })
    },

    /** True once for each amount of a period: that caller sends the webhook. */
    async markTold(tenant: string, name: string, period: string, amount: number): Promise<boolean> {
      await db
        .deleteFrom('quota_use')
        .where('tenant_id', '=', tenant)
        .where('name', '=', name)
        .where('period', '<', period)
        .execute()
      const told = await db
        .insertInto('quota_use')
        .values({ tenant_id: tenant, name, period, used: amount })
        .onConflict((on) =>
          on
            .columns(['tenant_id', 'name', 'period'])
            .doUpdateSet({ used: sql`excluded.used` })
            .where('quota_use.used', '<>', amount),
        )
        .returning('used')
        .execute()
      return told.length > 0
    },
  }
}

export const spendLimitStore = defineStore(spendReads, spendWrites)
