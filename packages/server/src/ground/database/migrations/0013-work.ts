import type { Kysely } from 'kysely'

/** What environment workers claim, and which workers have asked lately. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('work')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('environment_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('state', at, (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('due_ms', 'bigint', (c) => c.notNull())
    .addColumn('reserved_ms', 'bigint')
    .addColumn('lease_ms', 'bigint')
    .addColumn('heartbeat', at)
    .addColumn('heartbeat_before', at)
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('warned', 'integer', (c) => c.notNull())
    .addColumn('metadata', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('acknowledged_at', at)
    .addColumn('started_at', at)
    .addColumn('latest_heartbeat_at', at)
    .addColumn('stop_requested_at', at)
    .addColumn('stopped_at', at)
    .addPrimaryKeyConstraint('work_key', ['tenant_id', 'id'])
    .execute()
  await db.schema
    .createTable('work_pollers')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('environment_id', at, (c) => c.notNull())
    .addColumn('worker_id', at, (c) => c.notNull())
    .addColumn('seen_ms', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('work_pollers_key', ['tenant_id', 'environment_id', 'worker_id'])
    .execute()
  await db.schema.alterTable('session_heads').addColumn('idle_since_ms', 'bigint').execute()
  await db.schema
    .alterTable('calls')
    .addColumn('worker', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('sessions')
    .addColumn('self_hosted', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('work').columns(columns).execute()
  await index('work_by_age', ['tenant_id', 'environment_id', 'state', 'due_ms', 'id'])
  await index('work_of_session', ['tenant_id', 'session_id', 'state'])
}
