import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What became of the answers to deliveries, and what integrations have learned of the names of repositories and people. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = ['number', 'event_id', 'target', 'missing', 'answer_state', 'answer_url']
  const statements = [
    ...[...columns, 'answer_reason', 'answer_event'].map(
      (name) => `alter table integration_deliveries add column ${name} text`,
    ),
    'alter table integration_threads add column turn_target text',
    'alter table publications add column known_ids text',
    `create index integration_deliveries_open on integration_deliveries (tenant_id, session_id)
      where answer_state in ('waiting', 'working')`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
