import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Where a resource lies beside the path that was sent for it: until now the two were the same. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('session_resources')
    .addColumn('resolved_path', 'text', (c) => c.notNull().defaultTo(''))
    .execute()
  await sql`update session_resources set resolved_path = mount_path`.execute(db)
  await sql`drop index session_resources_by_path`.execute(db)
  await db.schema
    .createIndex('session_resources_by_path')
    .unique()
    .on('session_resources')
    .columns(['tenant_id', 'session_id', 'resolved_path'])
    .execute()
}
