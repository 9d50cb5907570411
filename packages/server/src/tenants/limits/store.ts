import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Draw, DrawTokens } from './token-buckets.ts'
import type { LimitRow } from './effective-limits.ts'

/** The database's clock in microseconds, because clocks of processes differ. */
const clockNow = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`

/** Counters on Postgres. */
export const rateStore = (db: Queries) => ({
  /** Draws with one statement, which the row lock makes atomic across processes. */
  async draw(...[key, { interval, burst }, most]: Parameters<DrawTokens>): Promise<Draw> {
    const start = sql`least(greatest(r.full_at, excluded.seen), excluded.seen + ${burst}::bigint)`
    const drawn = sql`least((excluded.seen + ${burst}::bigint - ${start}) / ${interval}::bigint, ${most}::bigint)`
    const { rows } = await sql<{ drawn: number; full_at: number; seen: number }>`
      insert into rate_limits as r (key, full_at, drawn, seen)
        select ${key}, now + ${most * interval}::bigint, ${most}::bigint, now
        from (select ${clockNow} as now) as clock
      on conflict (key) do update set
        drawn = ${drawn}, full_at = ${start} + ${drawn} * ${interval}::bigint, seen = excluded.seen
      returning drawn, full_at, seen`.execute(db)
    const [row] = rows
    if (!row) throw new Error('a draw of tokens has returned no row')
    return { tokens: row.drawn, fullAt: row.full_at, now: row.seen }
  },

  /** Removes full buckets: a missing bucket counts as full. */
  async removeFull(): Promise<void> {
    await sql`delete from rate_limits where full_at < ${clockNow}`.execute(db)
  },
})

function limitReads(db: Reads) {
  return {
    all: (tenant: string): Promise<LimitRow[]> =>
      db
        .selectFrom('workspace_limits')
        .select(['name', 'source', 'value', 'period_ms'])
        .where('tenant_id', '=', tenant)
        .execute(),
  }
}

function limitWrites(db: Queries) {
  return {
    async set(tenant: string, limit: LimitRow, now: number): Promise<void> {
      const row = { ...limit, tenant_id: tenant, updated_at: iso(now) }
      const { value, period_ms, updated_at } = row
      await db
        .insertInto('workspace_limits')
        .values(row)
        .onConflict((on) =>
          on.columns(['tenant_id', 'name', 'source']).doUpdateSet({ value, period_ms, updated_at }),
        )
        .execute()
      tellLimit(limit, { value, period_ms })
    },

    async remove(tenant: string, { name, source }: Pick<LimitRow, 'name' | 'source'>) {
      await db
        .deleteFrom('workspace_limits')
        .where('tenant_id', '=', tenant)
        .where('name', '=', name)
        .where('source', '=', source)
        .execute()
      tellLimit({ name, source }, { value: null })
    },
  }
}

/** Tells the audit of both types, because the audit is filtered by either. */
function tellLimit(
  { name, source }: Pick<LimitRow, 'name' | 'source'>,
  held: { value: number | null; period_ms?: number },
): void {
  for (const type of ['rate_limit', 'quota'])
    auditChange({ type, id: name, after: { ...held, source } })
}

/** Limits that the operator or the workspace has set. */
export const workspaceLimitStore = defineStore(limitReads, limitWrites)
