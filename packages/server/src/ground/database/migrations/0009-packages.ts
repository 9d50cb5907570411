import type { Kysely } from 'kysely'

/** Which process builds which packages now; what was built is a folder, and has no row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('package_builds')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('layer', 'text', (c) => c.notNull())
    .addColumn('owner', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('package_builds_key', ['tenant_id', 'layer'])
    .execute()
}
