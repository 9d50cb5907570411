import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  'alter table session_heads add column threads integer not null default 0',
  'alter table inbox add column thread_id text',
  'alter table calls add column thread_id text',
  'alter table events add column thread_id text',
  'alter table events add column shared text',
  // Rows of primary threads have none, and are not in it.
  `create index events_of_thread on events (session_id, thread_id, seq) where thread_id is not null`,
  `create table threads (
    tenant_id text not null, session_id text not null, id text not null, kind text not null, name text not null,
    agent text not null, status text not null, stop_reason text, due integer not null default 0,
    recoveries integer not null default 0, halted integer not null default 0, url_servers integer not null default 0,
    running_since_ms bigint, active_ms bigint not null default 0, idle_since_ms bigint,
    input_tokens bigint not null default 0, output_tokens bigint not null default 0,
    cache_read_input_tokens bigint not null default 0, cache_creation_input_tokens bigint not null default 0,
    list_cost bigint not null default 0, unpriced integer not null default 0,
    archived_at text, created_at text not null, updated_at text not null,
    constraint threads_key primary key (session_id, id))`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
