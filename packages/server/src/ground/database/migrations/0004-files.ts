import type { Kysely } from 'kysely'

/** Files, what sessions bring in, and the blobs that no row holds yet or any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const

  await db.schema
    .createTable('loose_blobs')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('blob_key', at, (c) => c.notNull())
    .addColumn('due_ms', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('loose_blobs_key', ['tenant_id', 'blob_key'])
    .execute()
  await db.schema.createIndex('loose_blobs_by_time').on('loose_blobs').columns(['due_ms']).execute()

  await db.schema
    .createTable('files')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('session_id', at)
    .addColumn('origin', at, (c) => c.notNull())
    .addColumn('filename', at, (c) => c.notNull())
    .addColumn('mime_type', at, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('sha256', at, (c) => c.notNull())
    .addColumn('blob_key', at)
    .addColumn('downloadable', 'integer', (c) => c.notNull())
    .addColumn('expires_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('files_key', ['tenant_id', 'id'])
    .execute()
  const indexes = {
    files_by_age: ['tenant_id', 'created_at', 'id'],
    files_of_session: ['tenant_id', 'session_id', 'created_at', 'id'],
    files_of_blob: ['tenant_id', 'blob_key'],
    files_by_expiry: ['expires_at'],
  }
  for (const [name, columns] of Object.entries(indexes))
    await db.schema.createIndex(name).on('files').columns(columns).execute()

  await db.schema
    .createTable('session_resources')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('type', at, (c) => c.notNull())
    .addColumn('file_id', at)
    .addColumn('mount_path', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('session_resources_key', ['tenant_id', 'session_id', 'id'])
    .execute()
  await db.schema
    .createIndex('session_resources_by_path')
    .unique()
    .on('session_resources')
    .columns(['tenant_id', 'session_id', 'mount_path'])
    .execute()
}
