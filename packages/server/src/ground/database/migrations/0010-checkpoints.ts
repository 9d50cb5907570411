import type { Kysely } from 'kysely'

/** Where a session's workspace lies, and its last checkpoint: an archive, and one of what changed since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('checkpoints')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('folder', at, (c) => c.notNull())
    .addColumn('base_key', at)
    .addColumn('base_size', 'bigint')
    .addColumn('base_sha256', at)
    .addColumn('delta_key', at)
    .addColumn('delta_size', 'bigint')
    .addColumn('delta_sha256', at)
    .addColumn('taken_at', at)
    .addPrimaryKeyConstraint('checkpoints_key', ['tenant_id', 'session_id'])
    .execute()
  await db.schema
    .createIndex('checkpoints_by_age')
    .on('checkpoints')
    .columns(['taken_at'])
    .execute()
}
