import type { Kysely } from 'kysely'

/** Skills and their versions, whose bytes are one archive each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const

  await db.schema
    .createTable('skills')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('display_title', at)
    .addColumn('description', at, (c) => c.notNull())
    .addColumn('latest_version', at)
    .addColumn('newest_version', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('skills_key', ['tenant_id', 'id'])
    .execute()

  await db.schema
    .createTable('skill_versions')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('skill_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('description', at, (c) => c.notNull())
    .addColumn('directory', at, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('sha256', at, (c) => c.notNull())
    .addColumn('blob_key', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('files', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('skill_versions_key', ['tenant_id', 'skill_id', 'id'])
    .execute()

  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()
  await index('skills_by_age', 'skills', ['tenant_id', 'created_at', 'id'])
  await index('skill_versions_by_age', 'skill_versions', [
    'tenant_id',
    'skill_id',
    'created_at',
    'id',
  ])
  await index('skill_versions_of_blob', 'skill_versions', ['tenant_id', 'blob_key'])
}
