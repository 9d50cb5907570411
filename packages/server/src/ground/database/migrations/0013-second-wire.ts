import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What sessions of the second wire have: outputs in their working folder, and messages that join a running turn. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table sessions add column outputs_path text',
    'alter table inbox add column steers text',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
