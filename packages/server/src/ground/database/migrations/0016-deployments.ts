import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  'alter table sessions add column deployment_id text',
  `create index sessions_by_deployment on sessions (tenant_id, deployment_id, created_at, id)
    where deployment_id is not null`,
  `create table deployments (
    tenant_id text not null, id text not null, name text not null, description text, agent_id text not null,
    agent_version integer not null, environment_id text not null, spec text not null, sealed_tokens text,
    metadata text not null, schedule text, paused_reason text, last_run_at text, next_ms bigint, due_ms bigint,
    archived_at text, created_at text not null, updated_at text not null,
    constraint deployments_key primary key (tenant_id, id))`,
  'create index deployments_by_time on deployments (tenant_id, created_at, id)',
  'create index deployments_by_agent on deployments (tenant_id, agent_id)',
  'create index deployments_due on deployments (due_ms) where due_ms is not null',
  `create table deployment_runs (
    tenant_id text not null, id text not null, deployment_id text not null, agent_id text not null,
    agent_version integer not null, trigger_type text not null, scheduled_at text,
    session_id text, error text, created_at text not null,
    constraint deployment_runs_key primary key (tenant_id, id))`,
  'create index deployment_runs_by_time on deployment_runs (tenant_id, created_at, id)',
  'create index deployment_runs_by_deployment on deployment_runs (tenant_id, deployment_id, created_at, id)',
  `create unique index deployment_runs_scheduled on deployment_runs (tenant_id, deployment_id, scheduled_at)
    where scheduled_at is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
