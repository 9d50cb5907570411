import type { Kysely } from 'kysely'

/** How often a session's turn was taken from owners that failed, as its log is not asked for that any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('session_heads')
    .addColumn('recoveries', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
