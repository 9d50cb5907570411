import type { TableForms } from './forms.ts'

/** Agents, environments, model cards, vaults, files, skills and memory stores. */
export const resourceTables = ({ byBytes }: TableForms): string[] => [
  `create table agents (
    tenant_id text not null, id text not null, version integer not null, environment_id text, config text not null,
    archived_at text, created_at text not null, updated_at text not null,
    constraint agents_key primary key (tenant_id, id))`,
  'create index agents_listed on agents (tenant_id, created_at, id)',
  'create index agents_environment on agents (tenant_id, environment_id)',
  `create table agent_versions (
    tenant_id text not null, agent_id text not null, version integer not null, config text not null,
    sealed_tokens text not null, created_at text not null,
    constraint agent_versions_key primary key (tenant_id, agent_id, version))`,
  `create index agent_versions_sealed on agent_versions (tenant_id, agent_id, version)
    where sealed_tokens <> '{}'`,
  // The name of an archived environment is free. Databases of earlier versions gave the key its name.
  `create table environments (
    tenant_id text not null, id text not null, name text not null, record text not null, archived_at text,
    created_at text not null, updated_at text not null, reclaim_ms bigint not null default 0,
    constraint environments_next_pkey primary key (tenant_id, id))`,
  'create index environments_listed on environments (tenant_id, created_at, id)',
  'create unique index environments_name on environments (tenant_id, name) where archived_at is null',
  `create table model_cards (
    tenant_id text not null, id text not null, model_id text not null, model text not null, card text not null,
    sealed_key text not null, sealed_headers text, api_key_preview text not null, created_at text not null,
    updated_at text not null,
    constraint model_cards_key primary key (tenant_id, id),
    constraint model_cards_handle unique (tenant_id, model_id))`,
  'create index model_cards_wire on model_cards (tenant_id, model)',
  `create table vaults (
    tenant_id text not null, id text not null, name text not null, metadata text not null, archived_at text,
    created_at text not null, updated_at text not null,
    constraint vaults_key primary key (tenant_id, id))`,
  'create index vaults_by_age on vaults (tenant_id, created_at, id)',
  `create table vault_credentials (
    tenant_id text not null, id text not null, vault_id text not null, display_name text, metadata text not null,
    auth text not null, sealed text, binding text not null, revision integer not null, refresh_owner text,
    refresh_until_ms bigint not null, archived_at text, created_at text not null, updated_at text not null,
    constraint vault_credentials_key primary key (tenant_id, id))`,
  'create index vault_credentials_by_age on vault_credentials (tenant_id, vault_id, created_at, id)',
  `create unique index vault_credentials_by_binding on vault_credentials (tenant_id, vault_id, binding)
    where archived_at is null`,
  // The audit of credentials: their uses and their changes.
  `create table credential_uses (
    tenant_id text not null, id text not null, session_id text not null, vault_id text, credential_id text,
    caller text not null, server text not null, host text not null, method text not null, status integer,
    refreshed integer not null, ms integer, created_at text not null, seq bigint, hash text,
    constraint credential_uses_key primary key (tenant_id, id))`,
  'create index credential_uses_by_age on credential_uses (tenant_id, created_at, id)',
  'create index credential_uses_of_credential on credential_uses (tenant_id, credential_id, created_at, id)',
  'create index credential_uses_of_session on credential_uses (tenant_id, session_id, created_at, id)',
  'create index credential_uses_by_seq on credential_uses (tenant_id, seq) where seq > 0',
  'create index credential_uses_unchained on credential_uses (tenant_id, created_at, id) where seq is null',
  `create table credential_changes (
    tenant_id text not null, id text not null, vault_id text, credential_id text, model_card_id text,
    change text not null, api_key_id text, session_id text, created_at text not null, seq bigint, hash text,
    constraint credential_changes_by_id primary key (tenant_id, id))`,
  'create index credential_changes_by_age on credential_changes (tenant_id, created_at, id)',
  'create index credential_changes_of_vault on credential_changes (tenant_id, vault_id, created_at, id)',
  'create index credential_changes_by_seq on credential_changes (tenant_id, seq) where seq > 0',
  'create index credential_changes_unchained on credential_changes (tenant_id, created_at, id) where seq is null',
  `create table files (
    tenant_id text not null, id text not null, session_id text, origin text not null, filename text not null,
    mime_type text not null, size_bytes bigint not null, sha256 text not null, blob_key text,
    downloadable integer not null, expires_at text, created_at text not null,
    constraint files_key primary key (tenant_id, id))`,
  'create index files_by_age on files (tenant_id, created_at, id)',
  'create index files_of_session on files (tenant_id, session_id, created_at, id)',
  'create index files_of_blob on files (tenant_id, blob_key)',
  'create index files_by_expiry on files (expires_at)',
  // Blobs without a row that refers to them: the row is not written yet, or it was deleted.
  `create table loose_blobs (
    tenant_id text not null, blob_key text not null, due_ms bigint not null,
    constraint loose_blobs_key primary key (tenant_id, blob_key))`,
  'create index loose_blobs_by_time on loose_blobs (due_ms)',
  `create table skills (
    tenant_id text not null, id text not null, name text not null, display_title text, description text not null,
    latest_version text, newest_version text not null, created_at text not null, updated_at text not null,
    constraint skills_key primary key (tenant_id, id))`,
  'create index skills_by_age on skills (tenant_id, created_at, id)',
  `create table skill_versions (
    tenant_id text not null, skill_id text not null, id text not null, name text not null,
    description text not null, directory text not null, size_bytes bigint not null, sha256 text not null,
    blob_key text not null, created_at text not null, files text not null,
    constraint skill_versions_key primary key (tenant_id, skill_id, id))`,
  'create index skill_versions_by_age on skill_versions (tenant_id, skill_id, created_at, id)',
  'create index skill_versions_of_blob on skill_versions (tenant_id, blob_key)',
  `create table memory_stores (
    tenant_id text not null, id text not null, name text not null, description text not null,
    metadata text not null, agent_id text, embedding_model text not null, vector_index text not null,
    memories integer not null, archived_at text, deleted_at text, created_at text not null,
    updated_at text not null, revision integer not null default 0,
    constraint memory_stores_key primary key (tenant_id, id))`,
  'create index memory_stores_by_age on memory_stores (tenant_id, created_at, id)',
  'create index memory_stores_to_remove on memory_stores (deleted_at)',
  // Paths are compared by bytes, as SQLite does. Contents are the last column: SQLite reads a row up to the wanted
  // column.
  `create table memories (
    tenant_id text not null, id text not null, store_id text not null, version_id text not null,
    path ${byBytes} not null, sha256 text not null, size integer not null, created_at text not null,
    updated_at text not null, content text not null,
    constraint memories_key primary key (tenant_id, id),
    constraint memories_path unique (tenant_id, store_id, path))`,
  `create table memory_versions (
    tenant_id text not null, id text not null, store_id text not null, memory_id text not null,
    operation text not null, path text, sha256 text, size integer, api_key_id text, session_id text,
    redacted_by text, redacted_at text, expires_at text, created_at text not null, content text,
    constraint memory_versions_key primary key (tenant_id, id))`,
  'create index memory_versions_by_age on memory_versions (tenant_id, store_id, created_at, id)',
  'create index memory_versions_of_memory on memory_versions (tenant_id, memory_id, id)',
  'create index memory_versions_to_expire on memory_versions (expires_at)',
]
