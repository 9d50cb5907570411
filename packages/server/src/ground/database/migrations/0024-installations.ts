import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table installations (
    tenant_id text not null, id text not null, integration text not null, external_id text not null,
    external_name text not null, bot_user_id text, scopes text not null, status text not null,
    sealed_tokens text, token_owner text, token_until_ms bigint not null, created_at text not null,
    updated_at text not null,
    constraint installations_key primary key (tenant_id, id))`,
  'create index installations_by_time on installations (tenant_id, integration, created_at, id)',
  `create table installation_places (
    integration text not null, external_id text not null, tenant_id text not null, installation_id text not null,
    constraint installation_places_key primary key (integration, external_id))`,
  'create index installation_places_of_tenant on installation_places (tenant_id)',
  `create table install_states (
    id text not null, tenant_id text not null, integration text not null, user_id text, expires_ms bigint not null,
    constraint install_states_key primary key (id))`,
  'create index install_states_of_tenant on install_states (tenant_id)',
  'create index install_states_old on install_states (expires_ms)',
  'alter table publications add column installation_id text',
  'alter table publications add column vault_id text',
  'alter table publications add column token_due_ms bigint',
  'alter table integration_threads add column token_due_ms bigint',
  `create index integration_threads_to_renew on integration_threads (token_due_ms)
    where token_due_ms is not null`,
  'create index publications_to_renew on publications (token_due_ms) where token_due_ms is not null',
  'create index publications_of_installation on publications (tenant_id, installation_id)',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
