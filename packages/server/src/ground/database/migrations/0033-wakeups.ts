import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table wakeups (
    tenant_id text not null, session_id text not null, thread_id text not null, due_ms bigint not null,
    event_id text not null, note text not null,
    constraint wakeups_key primary key (tenant_id, session_id, thread_id))`,
  'create index wakeups_due on wakeups (due_ms)',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
