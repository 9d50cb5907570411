import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Facts that pages for people show. The number of turns is null for a session of before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = ['alter table session_heads add column turns bigint']
  for (const statement of statements) await sql.raw(statement).execute(db)
}
