import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  'alter table session_heads add column outcome integer not null default 0',
  `create table outcomes (
    tenant_id text not null, session_id text not null, id text not null, description text not null,
    rubric text not null, max_iterations integer not null, result text not null, iteration integer not null,
    explanation text, start_id text, completed_at text,
    constraint outcomes_key primary key (tenant_id, session_id, id))`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
