import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** How long items of an environment stay reserved at least, and all that somebody should have taken up by a time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('environments')
    .addColumn('reclaim_ms', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`drop index work_unclaimed`.execute(db)
  await sql`create index work_expected on work (coalesce(lease_ms, reserved_ms, due_ms))
    where state in ('queued', 'starting', 'active') and warned = 0`.execute(db)
}
