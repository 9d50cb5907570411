import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** The pull requests that agents have opened, and which sessions of external threads may write nothing at the provider. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table integration_pull_requests (
      tenant_id text not null, publication_id text not null, scope text not null, thread_scope text not null,
      session_id text not null, head text not null, created_at text not null,
      constraint integration_pull_requests_key primary key (tenant_id, publication_id, scope))`,
    'alter table integration_threads add column reads_only integer',
    'create index integration_threads_of_session on integration_threads (tenant_id, session_id)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
