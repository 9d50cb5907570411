import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Requests of `/v1/messages` that run, what such requests used, and how far the audit was sent to its stream. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table message_requests (
      tenant_id text not null, id text not null, api_key_id text not null, model text not null, price text not null,
      input_tokens bigint not null, begun_ms bigint not null, owner text not null,
      constraint message_requests_key primary key (tenant_id, id))`,
    `create table message_usage (
      tenant_id text not null, hour_ms bigint not null, api_key_id text not null, model text not null,
      price text not null, requests bigint not null, input_tokens bigint not null, output_tokens bigint not null,
      cache_read_input_tokens bigint not null, cache_creation_input_tokens bigint not null, list_cost bigint not null,
      constraint message_usage_key primary key (tenant_id, hour_ms, api_key_id, model, price))`,
    'create index message_usage_by_age on message_usage (hour_ms)',
    `create table audit_streams (
      tenant_id text not null, trail text not null, seq bigint not null, owner text, expires_at bigint not null,
      constraint audit_streams_key primary key (tenant_id, trail))`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
