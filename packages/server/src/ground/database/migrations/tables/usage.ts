/** Usage and quotas. */
export const usageTables: readonly string[] = [
  // Keyed from the hour on: a report reads a range of hours of one workspace.
  `create table usage_hours (
    tenant_id text not null, hour_ms bigint not null, session_id text not null, model text not null,
    price text not null, agent_id text not null, requests bigint not null, input_tokens bigint not null,
    output_tokens bigint not null, cache_read_input_tokens bigint not null,
    cache_creation_input_tokens bigint not null, list_cost bigint not null,
    constraint usage_hours_key primary key (tenant_id, hour_ms, session_id, model, price))`,
  'create index usage_hours_by_age on usage_hours (hour_ms)',
  `create table usage_days (
    tenant_id text not null, day_ms bigint not null, model text not null, price text not null,
    agent_id text not null, requests bigint not null, input_tokens bigint not null, output_tokens bigint not null,
    cache_read_input_tokens bigint not null, cache_creation_input_tokens bigint not null, list_cost bigint not null,
    constraint usage_days_key primary key (tenant_id, day_ms, model, price, agent_id))`,
  `create table quota_use (
    tenant_id text not null, name text not null, period text not null, used bigint not null,
    constraint quota_use_key primary key (tenant_id, name, period))`,
  `create table quota_changes (
    tenant_id text not null, name text not null, tx bigint not null, added bigint not null,
    constraint quota_changes_key primary key (tenant_id, name, tx))`,
  `create table spend_limits (
    tenant_id text not null, id text not null, period text not null, source text not null, amount bigint,
    is_enabled integer not null, created_at text not null, updated_at text not null,
    constraint spend_limits_key primary key (tenant_id, period, source))`,
]
