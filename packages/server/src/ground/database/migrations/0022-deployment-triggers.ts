import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  'alter table deployments add column sealed_trigger_secrets text',
  'alter table deployments add column previous_trigger_secret_until text',
  'alter table deployment_runs add column webhook_id text',
  `create unique index deployment_runs_webhook on deployment_runs (tenant_id, deployment_id, webhook_id)
    where webhook_id is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
