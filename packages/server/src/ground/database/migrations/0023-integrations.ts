import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table publications (
    tenant_id text not null, id text not null, integration text not null, agent_id text not null,
    agent_version integer, environment_id text not null, spec text not null, sealed_secrets text,
    status text not null, metadata text not null, created_at text not null, updated_at text not null,
    constraint publications_key primary key (tenant_id, id))`,
  'create index publications_by_time on publications (tenant_id, integration, created_at, id)',
  `create table integration_deliveries (
    tenant_id text not null, id text not null, publication_id text not null, external_id text not null,
    state text not null, reason text, scope text, author text, received text, session_id text,
    begun integer not null, due_ms bigint, created_at text not null,
    constraint integration_deliveries_key primary key (tenant_id, id))`,
  `create unique index integration_deliveries_once
    on integration_deliveries (tenant_id, publication_id, external_id)`,
  `create index integration_deliveries_by_time
    on integration_deliveries (tenant_id, publication_id, created_at, id)`,
  'create index integration_deliveries_old on integration_deliveries (created_at)',
  'create index integration_deliveries_due on integration_deliveries (due_ms) where due_ms is not null',
  `create index integration_deliveries_of_thread
    on integration_deliveries (tenant_id, publication_id, scope, id) where due_ms is not null`,
  `create table integration_threads (
    tenant_id text not null, id text not null, publication_id text not null, scope text not null,
    session_id text, target text not null, notes text not null, first text, told_seq bigint not null,
    told_parts integer not null, begun text, due_ms bigint, owner text, expires_at bigint not null,
    constraint integration_threads_key primary key (tenant_id, id))`,
  `create unique index integration_threads_by_scope
    on integration_threads (tenant_id, publication_id, scope)`,
  'create index integration_threads_due on integration_threads (due_ms) where due_ms is not null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
