import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

/** All tables and their indexes. An index is partial where few rows matter, so that a long history costs nothing. */
const schema = ({ byBytes, inOrder }: Record<'byBytes' | 'inOrder', string>): string[] => [
  `create table settings (
    name text primary key, value text not null)`,
  `create table workspaces (
    id text primary key, name text not null, created_at text not null)`,
  `create table api_keys (
    tenant_id text not null, id text primary key, kind text not null, name text not null,
    admin integer not null, environment_id text, hash text not null unique, preview text not null,
    expires_at text, revoked_at text, created_at text not null, reach text)`,
  'create index api_keys_listed on api_keys (tenant_id, created_at, id)',

  `create table agents (
    tenant_id text not null, id text not null, version integer not null, environment_id text,
    config text not null, archived_at text, created_at text not null, updated_at text not null,
    constraint agents_key primary key (tenant_id, id))`,
  'create index agents_listed on agents (tenant_id, created_at, id)',
  'create index agents_environment on agents (tenant_id, environment_id)',
  `create table agent_versions (
    tenant_id text not null, agent_id text not null, version integer not null, config text not null,
    sealed_tokens text not null, created_at text not null,
    constraint agent_versions_key primary key (tenant_id, agent_id, version))`,
  `create index agent_versions_sealed on agent_versions (tenant_id, agent_id, version)
    where sealed_tokens <> '{}'`,
  // The name of an archived environment is free. The key has the name that it has in databases of earlier versions.
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
    tenant_id text not null, id text not null, vault_id text not null, display_name text,
    metadata text not null, auth text not null, sealed text, binding text not null, revision integer not null,
    refresh_owner text, refresh_until_ms bigint not null, archived_at text, created_at text not null,
    updated_at text not null,
    constraint vault_credentials_key primary key (tenant_id, id))`,
  'create index vault_credentials_by_age on vault_credentials (tenant_id, vault_id, created_at, id)',
  `create unique index vault_credentials_by_binding on vault_credentials (tenant_id, vault_id, binding)
    where archived_at is null`,
  // The audit of credentials: their uses and their changes.
  `create table credential_uses (
    tenant_id text not null, id text not null, session_id text not null, vault_id text, credential_id text,
    caller text not null, server text not null, host text not null, method text not null, status integer,
    refreshed integer not null, ms integer, created_at text not null,
    constraint credential_uses_key primary key (tenant_id, id))`,
  'create index credential_uses_by_age on credential_uses (tenant_id, created_at, id)',
  'create index credential_uses_of_credential on credential_uses (tenant_id, credential_id, created_at, id)',
  'create index credential_uses_of_session on credential_uses (tenant_id, session_id, created_at, id)',
  `create table credential_changes (
    tenant_id text not null, id text not null, vault_id text, credential_id text, model_card_id text,
    change text not null, api_key_id text, session_id text, created_at text not null,
    constraint credential_changes_by_id primary key (tenant_id, id))`,
  'create index credential_changes_by_age on credential_changes (tenant_id, created_at, id)',
  'create index credential_changes_of_vault on credential_changes (tenant_id, vault_id, created_at, id)',
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
    tenant_id text not null, id text not null, name text not null, display_title text,
    description text not null, latest_version text, newest_version text not null, created_at text not null,
    updated_at text not null,
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
  // Paths are compared by bytes, as SQLite does. Contents are the last column: SQLite reads a row up to the wanted column.
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

  `create table sessions (
    tenant_id text not null, id text not null, agent_id text not null, agent_version integer not null,
    agent text not null, environment_id text not null, title text, metadata text not null, archived_at text,
    deleted_at text, created_at text not null, updated_at text not null, vault_ids text not null default '[]',
    sealed_tokens text, files_revision bigint not null default 0, self_hosted integer not null default 0,
    constraint sessions_key primary key (tenant_id, id))`,
  'create index sessions_listed on sessions (tenant_id, created_at, id)',
  'create index sessions_agent on sessions (tenant_id, agent_id, created_at, id)',
  'create index sessions_environment on sessions (tenant_id, environment_id)',
  `create index sessions_sealed on sessions (tenant_id, id) where sealed_tokens <> '{}'`,
  'create index sessions_deleted on sessions (deleted_at) where deleted_at is not null',
  // Each commit of a session updates its one row here. The indexes hold the few sessions that wait or run.
  `create table session_heads (
    tenant_id text not null, session_id text primary key, status text not null, stop_reason text, owner text,
    running_since_ms bigint, next_seq bigint not null default 0, next_position bigint not null default 0,
    due bigint not null default 0, generation bigint not null default 0, expires_at bigint not null default 0,
    active_ms bigint not null default 0, input_tokens bigint not null default 0,
    output_tokens bigint not null default 0, cache_read_input_tokens bigint not null default 0,
    cache_creation_input_tokens bigint not null default 0, idle_since_ms bigint, stdio_ms bigint,
    awaits_stdio integer not null default 0, previous_owner text, url_servers integer not null default 0,
    recoveries integer not null default 0, inbox_bytes bigint not null default 0)`,
  'create index heads_owned on session_heads (owner) where owner is not null',
  'create index heads_awaiting on session_heads (session_id) where awaits_stdio = 1',
  'create index heads_due on session_heads (tenant_id, session_id) where due = 1',
  `create table inbox (
    tenant_id text not null, session_id text not null, position bigint not null, id text not null,
    type text not null, event text not null, created_at text not null, bytes_before bigint not null default 0,
    constraint inbox_key primary key (session_id, position))${inOrder}`,
  `create index inbox_interrupts on inbox (session_id, position) where type = 'user.interrupt'`,
  // Rows lie in the order of their key, so that reads of a session need no index beside the table.
  `create table events (
    tenant_id text not null, session_id text not null, seq bigint not null, id text not null,
    type text not null, created_at text not null, processed_at text, data text not null, opaque text,
    constraint events_key primary key (session_id, seq))${inOrder}`,
  `create table calls (
    tenant_id text not null, session_id text not null, event_id text not null, seq bigint not null,
    state text not null, deny_message text, worker integer not null default 0,
    constraint calls_key primary key (session_id, event_id))${inOrder}`,
  `create index calls_open on calls (session_id) where state <> 'done'`,
  `create table session_resources (
    tenant_id text not null, session_id text not null, id text not null, type text not null, file_id text,
    mount_path text not null, created_at text not null, updated_at text not null, url text, checkout text,
    sealed_token text, cloned_at text, memory_store_id text, access text, name text, description text,
    instructions text, resolved_path text not null default '',
    constraint session_resources_key primary key (tenant_id, session_id, id))`,
  'create index session_resources_by_store on session_resources (tenant_id, memory_store_id)',
  'create unique index session_resources_by_path on session_resources (tenant_id, session_id, resolved_path)',
  `create table outputs (
    tenant_id text not null, session_id text not null, filename text not null, file_id text not null,
    sha256 text not null,
    constraint outputs_key primary key (tenant_id, session_id, filename))`,
  `create table checkpoints (
    tenant_id text not null, session_id text not null, folder text not null, base_key text, base_size bigint,
    base_sha256 text, delta_key text, delta_size bigint, delta_sha256 text, taken_at text,
    constraint checkpoints_key primary key (tenant_id, session_id))`,
  'create index checkpoints_by_age on checkpoints (taken_at)',
  `create table stdio_reports (
    tenant_id text not null, session_id text not null, work_id text not null, generation integer not null,
    servers text not null,
    constraint stdio_reports_key primary key (tenant_id, session_id))`,

  `create table work (
    tenant_id text not null, environment_id text not null, id text not null, session_id text not null,
    state text not null, generation integer not null, due_ms bigint not null, reserved_ms bigint,
    lease_ms bigint, heartbeat text, heartbeat_before text, attempts integer not null, warned integer not null,
    metadata text not null, created_at text not null, acknowledged_at text, started_at text,
    latest_heartbeat_at text, stop_requested_at text, stopped_at text, worker_id text, key_id text,
    reserved_until_ms bigint, left_first_ms bigint, left_last_ms bigint, hinted integer not null default 0,
    constraint work_key primary key (tenant_id, id))`,
  'create index work_of_session on work (tenant_id, session_id, state)',
  `create unique index work_live on work (tenant_id, session_id) where state <> 'stopped'`,
  `create index work_waiting on work (tenant_id, environment_id, due_ms, id)
    where state = 'queued' and reserved_ms is null`,
  `create index work_reserved on work (tenant_id, environment_id, reserved_ms)
    where state = 'queued' and reserved_ms is not null`,
  `create index work_held on work (tenant_id, environment_id, lease_ms) where state in ('starting', 'active')`,
  `create index work_stopping on work (lease_ms) where state = 'stopping'`,
  `create index work_stopped on work (stopped_at) where state = 'stopped'`,
  `create index work_awaited on work (coalesce(lease_ms, due_ms))
    where state in ('queued', 'starting', 'active') and warned = 0`,
  `create index work_lapsing on work (coalesce(lease_ms, reserved_until_ms))
    where state in ('queued', 'starting', 'active') and hinted = 0`,
  `create table work_pollers (
    tenant_id text not null, environment_id text not null, worker_id text not null, seen_ms bigint not null,
    constraint work_pollers_key primary key (tenant_id, environment_id, worker_id))`,
  'create index work_pollers_seen on work_pollers (seen_ms)',
  // The process that builds a layer of packages. The result is a folder and has no row.
  `create table package_builds (
    tenant_id text not null, layer text not null, owner text not null, expires_at bigint not null,
    constraint package_builds_key primary key (tenant_id, layer))`,

  `create table webhook_endpoints (
    tenant_id text not null, id text not null, url text not null, description text,
    enabled_events text not null, sealed_secrets text not null, previous_until text, failures integer not null,
    disabled_reason text, disabled_at text, created_at text not null, updated_at text not null,
    constraint webhook_endpoints_key primary key (tenant_id, id))`,
  `create table webhook_deliveries (
    tenant_id text not null, id text not null, endpoint_id text not null, event_id text not null,
    kind text not null, body text not null, state text not null, begun integer not null, due_ms bigint,
    attempts text not null, created_at text not null, ended_at text,
    constraint webhook_deliveries_key primary key (tenant_id, id))`,
  'create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_ms) where due_ms is not null',
  'create index webhook_deliveries_by_endpoint on webhook_deliveries (tenant_id, endpoint_id, created_at, id)',
  'create index webhook_deliveries_ended on webhook_deliveries (ended_at)',
]

const forms = {
  sqlite: { byBytes: 'text', inOrder: ' without rowid' },
  postgres: { byBytes: 'text collate "C"', inOrder: '' },
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of schema(forms[dialectOf(db)])) await sql.raw(statement).execute(db)
}
