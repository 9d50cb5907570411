import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** The last column of its table: SQLite reads a long value only when a statement asks for it or for a column behind it. */
const statements = ['alter table sessions add column roster text']

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
