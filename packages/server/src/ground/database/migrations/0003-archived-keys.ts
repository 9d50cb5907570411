import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Tells keys that are archived for good from those that are only deactivated. Earlier revocations are for good. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_keys').addColumn('archived_at', 'text').execute()
  await sql`update api_keys set archived_at = revoked_at`.execute(db)
}
