import type { Kysely } from 'kysely'

/** What a session has published, and how often the files that lie in its sandbox have changed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('outputs')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('filename', at, (c) => c.notNull())
    .addColumn('file_id', at, (c) => c.notNull())
    .addColumn('sha256', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('outputs_key', ['tenant_id', 'session_id', 'filename'])
    .execute()
  await db.schema
    .alterTable('sessions')
    .addColumn('files_revision', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
}
