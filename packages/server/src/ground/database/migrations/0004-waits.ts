import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/**
 * Waits of running sessions, who has made a session, the minute in which one last changed, and indexes for lists of what
 * waits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table session_waits (
      tenant_id text not null, session_id text not null, type text not null, generation bigint not null,
      since_ms bigint not null, constraint session_waits_key primary key (tenant_id, session_id, type))`,
    `alter table session_heads add column changed_ms bigint not null default 0`,
    'create index heads_changed on session_heads (tenant_id, changed_ms)',
    `create index heads_at_budget on session_heads (tenant_id, session_id)
      where status = 'idle' and budget is not null`,
    `create index threads_rescheduling on threads (tenant_id, session_id) where status = 'rescheduling'`,
    ...['creator_type', 'creator_id', 'creator_name', 'allowances'].map(
      (name) => `alter table sessions add column ${name} text`,
    ),
    'drop index calls_open',
    `create index calls_open on calls (tenant_id, session_id) where state <> 'done'`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
