import type { TableForms } from './forms.ts'

/** Sessions, their logs and all that belongs to one session. */
export const sessionTables = ({ inOrder }: TableForms): string[] => [
  `create table sessions (
    tenant_id text not null, id text not null, agent_id text not null, agent_version integer not null,
    agent text not null, environment_id text not null, title text, metadata text not null, archived_at text,
    deleted_at text, created_at text not null, updated_at text not null, vault_ids text not null default '[]',
    sealed_tokens text, files_revision bigint not null default 0, self_hosted integer not null default 0,
    roster text, deployment_id text, forked_from text,
    constraint sessions_key primary key (tenant_id, id))`,
  'create index sessions_listed on sessions (tenant_id, created_at, id)',
  'create index sessions_agent on sessions (tenant_id, agent_id, created_at, id)',
  'create index sessions_environment on sessions (tenant_id, environment_id)',
  `create index sessions_sealed on sessions (tenant_id, id) where sealed_tokens <> '{}'`,
  'create index sessions_deleted on sessions (deleted_at) where deleted_at is not null',
  `create index sessions_by_deployment on sessions (tenant_id, deployment_id, created_at, id)
    where deployment_id is not null`,
  // Lists of sessions by a pair of their metadata read it.
  `create table session_metadata (
    tenant_id text not null, session_id text not null, key text not null, value text not null,
    constraint session_metadata_key primary key (tenant_id, key, value, session_id))`,
  'create index session_metadata_by_session on session_metadata (tenant_id, session_id)',
  // Each commit of a session updates its one row here. The indexes hold the few sessions that wait or run.
  `create table session_heads (
    tenant_id text not null, session_id text primary key, status text not null, stop_reason text, owner text,
    running_since_ms bigint, next_seq bigint not null default 0, next_position bigint not null default 0,
    due bigint not null default 0, generation bigint not null default 0, expires_at bigint not null default 0,
    active_ms bigint not null default 0, input_tokens bigint not null default 0,
    output_tokens bigint not null default 0, cache_read_input_tokens bigint not null default 0,
    cache_creation_input_tokens bigint not null default 0, idle_since_ms bigint, stdio_ms bigint,
    awaits_stdio integer not null default 0, previous_owner text, url_servers integer not null default 0,
    recoveries integer not null default 0, inbox_bytes bigint not null default 0,
    list_cost bigint not null default 0, unpriced integer not null default 0,
    model_requests bigint not null default 0, counted_hour bigint, counted_model text, counted_price text,
    budget bigint, budget_told integer not null default 0, halted integer not null default 0,
    outcome integer not null default 0, threads integer not null default 0)`,
  'create index heads_owned on session_heads (owner) where owner is not null',
  'create index heads_awaiting on session_heads (session_id) where awaits_stdio = 1',
  'create index heads_due on session_heads (tenant_id, session_id) where due = 1',
  `create table inbox (
    tenant_id text not null, session_id text not null, position bigint not null, id text not null,
    type text not null, event text not null, created_at text not null, bytes_before bigint not null default 0,
    thread_id text,
    constraint inbox_key primary key (session_id, position))${inOrder}`,
  `create index inbox_interrupts on inbox (session_id, position) where type = 'user.interrupt'`,
  // Rows lie in the order of their key, so that reads of a session need no index beside the table. Rows of primary
  // threads have no thread id, and are not in the index of threads.
  `create table events (
    tenant_id text not null, session_id text not null, seq bigint not null, id text not null, type text not null,
    created_at text not null, processed_at text, data text not null, opaque text, thread_id text, shared text,
    constraint events_key primary key (session_id, seq))${inOrder}`,
  'create index events_of_thread on events (session_id, thread_id, seq) where thread_id is not null',
  `create table threads (
    tenant_id text not null, session_id text not null, id text not null, kind text not null, name text not null,
    agent text not null, status text not null, stop_reason text, due integer not null default 0,
    recoveries integer not null default 0, halted integer not null default 0,
    url_servers integer not null default 0, running_since_ms bigint, active_ms bigint not null default 0,
    idle_since_ms bigint, input_tokens bigint not null default 0, output_tokens bigint not null default 0,
    cache_read_input_tokens bigint not null default 0, cache_creation_input_tokens bigint not null default 0,
    list_cost bigint not null default 0, unpriced integer not null default 0, archived_at text,
    created_at text not null, updated_at text not null,
    constraint threads_key primary key (session_id, id))`,
  `create table calls (
    tenant_id text not null, session_id text not null, event_id text not null, seq bigint not null,
    state text not null, deny_message text, worker integer not null default 0, thread_id text,
    constraint calls_key primary key (session_id, event_id))${inOrder}`,
  `create index calls_open on calls (session_id) where state <> 'done'`,
  `create table long_texts (
    tenant_id text not null, session_id text not null, event_id text not null, bytes bigint not null,
    state text not null, created_at text not null,
    constraint long_texts_key primary key (session_id, event_id))${inOrder}`,
  `create index long_texts_left on long_texts (created_at) where state <> 'owned'`,
  // A row of a megabyte would make each page of an ordered table hold one key.
  `create table long_text_pieces (
    tenant_id text not null, session_id text not null, event_id text not null, piece integer not null,
    text text not null,
    constraint long_text_pieces_key primary key (session_id, event_id, piece))`,
  `create table outcomes (
    tenant_id text not null, session_id text not null, id text not null, description text not null,
    rubric text not null, max_iterations integer not null, result text not null, iteration integer not null,
    explanation text, start_id text, completed_at text, inspection text,
    constraint outcomes_key primary key (tenant_id, session_id, id))`,
  `create table wakeups (
    tenant_id text not null, session_id text not null, thread_id text not null, due_ms bigint not null,
    event_id text not null, note text not null,
    constraint wakeups_key primary key (tenant_id, session_id, thread_id))`,
  'create index wakeups_due on wakeups (due_ms)',
  `create table session_resources (
    tenant_id text not null, session_id text not null, id text not null, type text not null,
    mount_path text not null, created_at text not null, updated_at text not null, sealed_token text,
    mounted_at text, resolved_path text not null default '', fields text not null default '{}', refers_to text,
    constraint session_resources_key primary key (tenant_id, session_id, id))`,
  'create unique index session_resources_by_path on session_resources (tenant_id, session_id, resolved_path)',
  'create index session_resources_by_reference on session_resources (tenant_id, refers_to)',
  `create table outputs (
    tenant_id text not null, session_id text not null, filename text not null, file_id text not null,
    sha256 text not null,
    constraint outputs_key primary key (tenant_id, session_id, filename))`,
  `create table checkpoints (
    tenant_id text not null, session_id text not null, folder text not null, base_key text, base_size bigint,
    base_sha256 text, delta_key text, delta_size bigint, delta_sha256 text, taken_at text,
    constraint checkpoints_key primary key (tenant_id, session_id))`,
  'create index checkpoints_by_age on checkpoints (taken_at)',
  'create index checkpoints_by_base on checkpoints (tenant_id, base_key) where base_key is not null',
  'create index checkpoints_by_delta on checkpoints (tenant_id, delta_key) where delta_key is not null',
  // Several sessions may have one archive: the session of a key is not its only holder.
  `create table past_checkpoints (
    tenant_id text not null, session_id text not null, seq bigint not null, taken_at text not null,
    base_key text not null, base_size bigint not null, base_sha256 text not null, delta_key text, delta_size bigint,
    delta_sha256 text,
    constraint past_checkpoints_key primary key (tenant_id, session_id, seq))`,
  'create index past_checkpoints_by_base on past_checkpoints (tenant_id, base_key)',
  'create index past_checkpoints_by_delta on past_checkpoints (tenant_id, delta_key) where delta_key is not null',
  `create table stdio_reports (
    tenant_id text not null, session_id text not null, work_id text not null, generation integer not null,
    servers text not null,
    constraint stdio_reports_key primary key (tenant_id, session_id))`,
  `create table idempotency_keys (
    tenant_id text not null, scope text not null, key text not null, body_hash text not null,
    created_ms bigint not null, made_id text,
    constraint idempotency_keys_key primary key (tenant_id, scope, key))`,
  'create index idempotency_keys_by_age on idempotency_keys (tenant_id, created_ms)',
]
