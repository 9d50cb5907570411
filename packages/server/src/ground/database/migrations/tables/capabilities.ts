/** Webhooks, deployments, evals, dreams and integrations. */
export const capabilityTables: readonly string[] = [
  `create table webhook_endpoints (
    tenant_id text not null, id text not null, url text not null, description text, enabled_events text not null,
    sealed_secrets text not null, previous_until text, failures integer not null, disabled_reason text,
    disabled_at text, created_at text not null, updated_at text not null,
    constraint webhook_endpoints_key primary key (tenant_id, id))`,
  `create table webhook_deliveries (
    tenant_id text not null, id text not null, endpoint_id text not null, event_id text not null,
    kind text not null, body text not null, state text not null, begun integer not null, due_ms bigint,
    attempts text not null, created_at text not null, ended_at text,
    constraint webhook_deliveries_key primary key (tenant_id, id))`,
  'create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_ms) where due_ms is not null',
  'create index webhook_deliveries_by_endpoint on webhook_deliveries (tenant_id, endpoint_id, created_at, id)',
  'create index webhook_deliveries_ended on webhook_deliveries (ended_at)',
  `create table deployments (
    tenant_id text not null, id text not null, name text not null, description text, agent_id text not null,
    agent_version integer not null, environment_id text not null, spec text not null, sealed_tokens text,
    metadata text not null, schedule text, paused_reason text, last_run_at text, next_ms bigint, due_ms bigint,
    archived_at text, created_at text not null, updated_at text not null, sealed_trigger_secrets text,
    previous_trigger_secret_until text,
    constraint deployments_key primary key (tenant_id, id))`,
  'create index deployments_by_time on deployments (tenant_id, created_at, id)',
  'create index deployments_by_agent on deployments (tenant_id, agent_id)',
  'create index deployments_due on deployments (due_ms) where due_ms is not null',
  `create table deployment_runs (
    tenant_id text not null, id text not null, deployment_id text not null, agent_id text not null,
    agent_version integer not null, trigger_type text not null, scheduled_at text, session_id text, error text,
    created_at text not null, webhook_id text,
    constraint deployment_runs_key primary key (tenant_id, id))`,
  'create index deployment_runs_by_time on deployment_runs (tenant_id, created_at, id)',
  'create index deployment_runs_by_deployment on deployment_runs (tenant_id, deployment_id, created_at, id)',
  `create unique index deployment_runs_scheduled on deployment_runs (tenant_id, deployment_id, scheduled_at)
    where scheduled_at is not null`,
  `create unique index deployment_runs_webhook on deployment_runs (tenant_id, deployment_id, webhook_id)
    where webhook_id is not null`,
  `create table eval_runs (
    tenant_id text not null, id text not null, name text, metadata text not null, agent_id text not null,
    status text not null, spec text not null, scores text, owner text, expires_at bigint not null, started_at text,
    ended_at text, created_at text not null, updated_at text not null,
    constraint eval_runs_key primary key (tenant_id, id))`,
  'create index eval_runs_by_time on eval_runs (tenant_id, created_at, id)',
  `create index eval_runs_open on eval_runs (id) where status in ('queued', 'running', 'canceling')`,
  `create table eval_samples (
    tenant_id text not null, set_id text not null, id text not null, since integer not null, until integer,
    position integer not null, digest text not null, sample text not null,
    constraint eval_samples_key primary key (tenant_id, set_id, id, since))`,
  `create table eval_results (
    tenant_id text not null, id text not null, run_id text not null, position integer not null,
    sample_id text not null, trial integer not null, status text not null, step text not null, session_id text,
    scores text not null, error text, answer text, usage text, duration_ms integer, started_at text, ended_at text,
    created_at text not null,
    constraint eval_results_key primary key (tenant_id, run_id, position, trial))`,
  'create unique index eval_results_by_id on eval_results (tenant_id, id)',
  'create index eval_results_by_status on eval_results (tenant_id, run_id, status)',
  `create table eval_datasets (
    tenant_id text not null, id text not null, name text not null, description text, metadata text not null,
    version integer not null, created_at text not null, updated_at text not null,
    constraint eval_datasets_key primary key (tenant_id, id))`,
  'create index eval_datasets_by_time on eval_datasets (tenant_id, created_at, id)',
  `create table dreams (
    tenant_id text not null, id text not null, status text not null, memory_store_id text not null,
    session_ids text not null, model text not null, instructions text, output_behavior text not null,
    output_store_id text, held_store_id text, copied_path text, actor text not null, session_id text, error text,
    usage text, stopped integer not null, started_at text, archived_at text, created_at text not null,
    updated_at text not null, ended_at text,
    constraint dreams_key primary key (tenant_id, id))`,
  'create index dreams_by_time on dreams (tenant_id, created_at, id)',
  'create index dreams_open on dreams (created_at) where stopped = 0',
  'create unique index dreams_held on dreams (tenant_id, held_store_id) where held_store_id is not null',
  `create table publications (
    tenant_id text not null, id text not null, integration text not null, agent_id text not null,
    agent_version integer, environment_id text not null, spec text not null, sealed_secrets text,
    status text not null, metadata text not null, created_at text not null, updated_at text not null,
    installation_id text, vault_id text, token_due_ms bigint,
    constraint publications_key primary key (tenant_id, id))`,
  'create index publications_by_time on publications (tenant_id, integration, created_at, id)',
  'create index publications_to_renew on publications (token_due_ms) where token_due_ms is not null',
  'create index publications_of_installation on publications (tenant_id, installation_id)',
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
  `create index integration_deliveries_of_thread on integration_deliveries (tenant_id, publication_id, scope, id)
    where due_ms is not null`,
  `create table integration_threads (
    tenant_id text not null, id text not null, publication_id text not null, scope text not null, session_id text,
    target text not null, notes text not null, first text, told_seq bigint not null, told_parts integer not null,
    begun text, due_ms bigint, owner text, expires_at bigint not null, token_due_ms bigint,
    constraint integration_threads_key primary key (tenant_id, id))`,
  'create unique index integration_threads_by_scope on integration_threads (tenant_id, publication_id, scope)',
  'create index integration_threads_due on integration_threads (due_ms) where due_ms is not null',
  `create index integration_threads_to_renew on integration_threads (token_due_ms)
    where token_due_ms is not null`,
  `create table installations (
    tenant_id text not null, id text not null, integration text not null, external_id text not null,
    external_name text not null, bot_user_id text, scopes text not null, status text not null, sealed_tokens text,
    token_owner text, token_until_ms bigint not null, created_at text not null, updated_at text not null,
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
]
