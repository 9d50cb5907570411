import type { Kysely } from 'kysely'

/** Memory stores among what sessions bring in, and how far a store has moved. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['memory_store_id', 'access', 'name', 'description', 'instructions'])
    await db.schema.alterTable('session_resources').addColumn(column, 'text').execute()
  await db.schema
    .createIndex('session_resources_by_store')
    .on('session_resources')
    .columns(['tenant_id', 'memory_store_id'])
    .execute()
  await db.schema
    .alterTable('memory_stores')
    .addColumn('revision', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
