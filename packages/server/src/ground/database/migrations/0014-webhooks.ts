import type { Kysely } from 'kysely'

/** Endpoints that webhooks are sent to, and each event for each of them: to be sent, under way, or done. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('webhook_endpoints')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('url', at, (c) => c.notNull())
    .addColumn('description', at)
    .addColumn('enabled_events', at, (c) => c.notNull())
    .addColumn('sealed_secrets', at, (c) => c.notNull())
    .addColumn('previous_until', at)
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('disabled_reason', at)
    .addColumn('disabled_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_endpoints_key', ['tenant_id', 'id'])
    .execute()
  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('endpoint_id', at, (c) => c.notNull())
    .addColumn('event_id', at, (c) => c.notNull())
    .addColumn('kind', at, (c) => c.notNull())
    .addColumn('body', at, (c) => c.notNull())
    .addColumn('state', at, (c) => c.notNull())
    .addColumn('begun', 'integer', (c) => c.notNull())
    .addColumn('due_ms', 'bigint')
    .addColumn('attempts', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('ended_at', at)
    .addPrimaryKeyConstraint('webhook_deliveries_key', ['tenant_id', 'id'])
    .execute()
  await db.schema
    .createIndex('webhook_deliveries_due')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'due_ms'])
    .where('due_ms', 'is not', null)
    .execute()
  await db.schema
    .createIndex('webhook_deliveries_by_endpoint')
    .on('webhook_deliveries')
    .columns(['tenant_id', 'endpoint_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('webhook_deliveries_ended')
    .on('webhook_deliveries')
    .columns(['ended_at'])
    .execute()
}
