import type { Kysely } from 'kysely'

/** Repositories among what sessions bring in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['url', 'checkout', 'sealed_token', 'cloned_at'])
    await db.schema.alterTable('session_resources').addColumn(column, 'text').execute()
}
