import type { Kysely } from 'kysely'

/** How much waits in a session, known from one row. What waits by now counts as nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('session_heads')
    .addColumn('inbox_bytes', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('inbox')
    .addColumn('bytes_before', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
}
