import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table eval_runs (
    tenant_id text not null, id text not null, name text, metadata text not null, agent_id text not null,
    status text not null, spec text not null, scores text, owner text, expires_at bigint not null,
    started_at text, ended_at text, created_at text not null, updated_at text not null,
    constraint eval_runs_key primary key (tenant_id, id))`,
  'create index eval_runs_by_time on eval_runs (tenant_id, created_at, id)',
  `create index eval_runs_open on eval_runs (id) where status in ('queued', 'running', 'canceling')`,
  `create table eval_samples (
    tenant_id text not null, set_id text not null, id text not null, since integer not null,
    until integer, position integer not null, digest text not null, sample text not null,
    constraint eval_samples_key primary key (tenant_id, set_id, id, since))`,
  `create table eval_results (
    tenant_id text not null, id text not null, run_id text not null, position integer not null, sample_id text not null,
    trial integer not null, status text not null, step text not null, session_id text, scores text not null, error text,
    answer text, usage text, duration_ms integer, started_at text, ended_at text, created_at text not null,
    constraint eval_results_key primary key (tenant_id, run_id, position, trial))`,
  'create unique index eval_results_by_id on eval_results (tenant_id, id)',
  'create index eval_results_by_status on eval_results (tenant_id, run_id, status)',
  `create table eval_datasets (
    tenant_id text not null, id text not null, name text not null, description text, metadata text not null,
    version integer not null, created_at text not null, updated_at text not null,
    constraint eval_datasets_key primary key (tenant_id, id))`,
  'create index eval_datasets_by_time on eval_datasets (tenant_id, created_at, id)',
  `create table replays (
    tenant_id text not null, id text not null, source_id text not null, session_id text not null,
    status text not null, spec text not null, divergence text, owner text, expires_at bigint not null,
    ended_at text, created_at text not null, updated_at text not null,
    constraint replays_key primary key (tenant_id, id))`,
  'create index replays_by_time on replays (tenant_id, created_at, id)',
  `create index replays_open on replays (id) where status = 'running'`,
  'alter table outcomes add column inspection text',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
