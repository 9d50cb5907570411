import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** A recorded change may be a model card's, and then has no vault. SQLite lifts no `not null`: the table is made anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('credential_changes_next')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('credential_changes_by_id', ['tenant_id', 'id'])
    .addColumn('vault_id', at)
    .addColumn('credential_id', at)
    .addColumn('model_card_id', at)
    .addColumn('change', at, (c) => c.notNull())
    .addColumn('api_key_id', at)
    .addColumn('session_id', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .execute()
  const kept = sql.raw(
    'tenant_id, id, vault_id, credential_id, change, api_key_id, session_id, created_at',
  )
  await sql`insert into credential_changes_next (${kept}) select ${kept} from credential_changes`.execute(
    db,
  )
  await db.schema.dropTable('credential_changes').execute()
  await db.schema.alterTable('credential_changes_next').renameTo('credential_changes').execute()
  const indexes: [name: string, ...columns: string[]][] = [
    ['credential_changes_by_age', 'created_at', 'id'],
    ['credential_changes_of_vault', 'vault_id', 'created_at', 'id'],
  ]
  for (const [name, ...columns] of indexes)
    await db.schema
      .createIndex(name)
      .on('credential_changes')
      .columns(['tenant_id', ...columns])
      .execute()
}
