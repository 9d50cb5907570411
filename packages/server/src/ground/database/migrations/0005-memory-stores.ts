import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

/**
 * Memory stores, what lies in them now, and how it came to be. Paths are compared by bytes, as SQLite does. Contents
 * are last in their rows: what stands behind them costs SQLite the reading of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  const isPostgres = dialectOf(db) === 'postgres'
  const byBytes = isPostgres ? sql`text collate "C"` : at
  const table = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('tenant_id', at, (c) => c.notNull())
      .addColumn('id', at, (c) => c.notNull())
      .addPrimaryKeyConstraint(`${name}_key`, ['tenant_id', 'id'])

  await table('memory_stores')
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('description', at, (c) => c.notNull())
    .addColumn('metadata', at, (c) => c.notNull())
    .addColumn('agent_id', at)
    .addColumn('embedding_model', at, (c) => c.notNull())
    .addColumn('vector_index', at, (c) => c.notNull())
    .addColumn('memories', 'integer', (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('deleted_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .execute()

  await table('memories')
    .addColumn('store_id', at, (c) => c.notNull())
    .addColumn('version_id', at, (c) => c.notNull())
    .addColumn('path', byBytes, (c) => c.notNull())
    .addColumn('sha256', at, (c) => c.notNull())
    .addColumn('size', 'integer', (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addColumn('content', at, (c) => c.notNull())
    .addUniqueConstraint('memories_path', ['tenant_id', 'store_id', 'path'])
    .execute()

  await table('memory_versions')
    .addColumn('store_id', at, (c) => c.notNull())
    .addColumn('memory_id', at, (c) => c.notNull())
    .addColumn('operation', at, (c) => c.notNull())
    .addColumn('path', at)
    .addColumn('sha256', at)
    .addColumn('size', 'integer')
    .addColumn('api_key_id', at)
    .addColumn('session_id', at)
    .addColumn('redacted_by', at)
    .addColumn('redacted_at', at)
    .addColumn('expires_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('content', at)
    .execute()

  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()
  await index('memory_stores_by_age', 'memory_stores', ['tenant_id', 'created_at', 'id'])
  await index('memory_stores_to_remove', 'memory_stores', ['deleted_at'])
  await index('memory_versions_by_age', 'memory_versions', [
    'tenant_id',
    'store_id',
    'created_at',
    'id',
  ])
  await index('memory_versions_of_memory', 'memory_versions', ['tenant_id', 'memory_id', 'id'])
  await index('memory_versions_to_expire', 'memory_versions', ['expires_at'])
}
