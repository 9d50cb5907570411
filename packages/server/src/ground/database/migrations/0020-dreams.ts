import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table dreams (
    tenant_id text not null, id text not null, status text not null, memory_store_id text not null,
    session_ids text not null, model text not null, instructions text, output_behavior text not null,
    output_store_id text, held_store_id text, copied_path text, actor text not null, session_id text, error text, usage text,
    stopped integer not null, started_at text, archived_at text, created_at text not null,
    updated_at text not null, ended_at text,
    constraint dreams_key primary key (tenant_id, id))`,
  'create index dreams_by_time on dreams (tenant_id, created_at, id)',
  'create index dreams_open on dreams (created_at) where stopped = 0',
  'create unique index dreams_held on dreams (tenant_id, held_store_id) where held_store_id is not null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
