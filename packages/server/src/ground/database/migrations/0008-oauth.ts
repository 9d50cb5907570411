import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Logins of clients by OAuth: their tokens, and requests for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_keys').addColumn('client_id', 'text').execute()
  await db.schema.alterTable('api_keys').addColumn('role', 'text').execute()
  for (const statement of [
    "create index api_keys_of_logins on api_keys (created_by) where kind = 'oauth'",
    `create table oauth_tokens (
      tenant_id text not null, hash text not null, key_id text not null, kind text not null, line text,
      exchanged_at text, used_at text, expires_at text not null, created_at text not null,
      constraint oauth_tokens_key primary key (hash))`,
    'create index oauth_tokens_of_key on oauth_tokens (key_id)',
    'create index oauth_tokens_of_tenant on oauth_tokens (tenant_id)',
    'create index oauth_tokens_by_expiry on oauth_tokens (expires_at)',
    `create table oauth_requests (
      tenant_id text not null, hash text not null, kind text not null, client_id text not null, scope text not null,
      person_id text not null, status text not null, redirect_uri text, challenge text, user_code_hash text,
      interval_seconds integer not null, polled_ms bigint, key_id text, expires_at text not null,
      created_at text not null,
      constraint oauth_requests_key primary key (hash))`,
    'create unique index oauth_requests_by_user_code on oauth_requests (user_code_hash)',
    'create index oauth_requests_by_expiry on oauth_requests (expires_at)',
    'create index oauth_requests_of_tenant on oauth_requests (tenant_id)',
  ])
    await sql.raw(statement).execute(db)
}
