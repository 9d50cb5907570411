import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Facts that pages for people show. They are null for sessions and agent versions of before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table session_heads add column turns bigint',
    ...['creator_type', 'creator_id', 'creator_name'].map(
      (name) => `alter table agent_versions add column ${name} text`,
    ),
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
