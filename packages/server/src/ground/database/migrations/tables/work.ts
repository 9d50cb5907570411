/** Work for workers of self-hosted environments, and builds of packages. */
export const workTables: readonly string[] = [
  `create table work (
    tenant_id text not null, environment_id text not null, id text not null, session_id text not null,
    state text not null, generation integer not null, due_ms bigint not null, reserved_ms bigint, lease_ms bigint,
    heartbeat text, heartbeat_before text, attempts integer not null, warned integer not null,
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
]
