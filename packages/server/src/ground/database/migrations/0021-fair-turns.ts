import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/**
 * Whom a session was taken from, so that a turn that was given back is not counted as one that ended its process; and the
 * sessions that are due by tenant, so that tenants are served in turn.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('session_heads').addColumn('previous_owner', 'text').execute()
  await db.schema.dropIndex('heads_due').execute()
  await sql`create index heads_due on session_heads (tenant_id, session_id) where due = 1`.execute(
    db,
  )
}
