import type { Kysely } from 'kysely'

/** A counter of web searches, for sessions and for threads. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['session_heads', 'threads'])
    await db.schema
      .alterTable(table)
      .addColumn('web_searches', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
}
