import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Who was handed an item and when that lapses, since when its session is let go, and how far an environment key reaches. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const table = (name: string) => db.schema.alterTable(name)
  await table('work').addColumn('worker_id', 'text').execute()
  await table('work').addColumn('key_id', 'text').execute()
  await table('work').addColumn('reserved_until_ms', 'bigint').execute()
  await table('work').addColumn('left_first_ms', 'bigint').execute()
  await table('work').addColumn('left_last_ms', 'bigint').execute()
  await table('work')
    .addColumn('hinted', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`update work set reserved_until_ms = reserved_ms + 5000
    where state = 'queued' and reserved_ms is not null`.execute(db)
  await table('api_keys').addColumn('reach', 'text').execute()
  await sql`update api_keys set reach = 'work' where kind = 'environment'`.execute(db)
  await sql`drop index work_expected`.execute(db)
  await sql`create index work_awaited on work (coalesce(lease_ms, due_ms))
    where state in ('queued', 'starting', 'active') and warned = 0`.execute(db)
  await sql`create index work_lapsing on work (coalesce(lease_ms, reserved_until_ms))
    where state in ('queued', 'starting', 'active') and hinted = 0`.execute(db)
}
