import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const pairs = {
  sqlite: 'json_each(sessions.metadata) as pair',
  postgres: 'json_each_text(sessions.metadata::json) as pair',
}

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table idempotency_keys (
      tenant_id text not null, scope text not null, key text not null, body_hash text not null,
      created_ms bigint not null,
      constraint idempotency_keys_key primary key (tenant_id, scope, key))`,
    'create index idempotency_keys_by_age on idempotency_keys (tenant_id, created_ms)',
    // A list of sessions by a pair of their metadata.
    `create table session_metadata (
      tenant_id text not null, session_id text not null, key text not null, value text not null,
      constraint session_metadata_key primary key (tenant_id, key, value, session_id))`,
    'create index session_metadata_by_session on session_metadata (tenant_id, session_id)',
    `insert into session_metadata (tenant_id, session_id, key, value)
      select sessions.tenant_id, sessions.id, pair.key, pair.value from sessions, ${pairs[dialectOf(db)]}
      where sessions.deleted_at is null`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
