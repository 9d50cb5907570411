import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Vaults, and the trail of what becomes of their credentials. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  const table = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('tenant_id', at, (c) => c.notNull())
      .addColumn('id', at, (c) => c.notNull())
      .addPrimaryKeyConstraint(`${name}_key`, ['tenant_id', 'id'])

  await table('vaults')
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('metadata', at, (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('vaults_by_age')
    .on('vaults')
    .columns(['tenant_id', 'created_at', 'id'])
    .execute()

  await table('vault_credentials')
    .addColumn('vault_id', at, (c) => c.notNull())
    .addColumn('display_name', at)
    .addColumn('metadata', at, (c) => c.notNull())
    .addColumn('auth', at, (c) => c.notNull())
    .addColumn('sealed', at)
    .addColumn('binding', at, (c) => c.notNull())
    .addColumn('revision', 'integer', (c) => c.notNull())
    .addColumn('refresh_owner', at)
    .addColumn('refresh_until_ms', 'bigint', (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('vault_credentials_by_age')
    .on('vault_credentials')
    .columns(['tenant_id', 'vault_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('vault_credentials_by_binding')
    .unique()
    .on('vault_credentials')
    .columns(['tenant_id', 'vault_id', 'binding'])
    .where(sql.ref('archived_at'), 'is', null)
    .execute()

  await table('credential_uses')
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('vault_id', at)
    .addColumn('credential_id', at)
    .addColumn('caller', at, (c) => c.notNull())
    .addColumn('server', at, (c) => c.notNull())
    .addColumn('host', at, (c) => c.notNull())
    .addColumn('method', at, (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('refreshed', 'integer', (c) => c.notNull())
    .addColumn('ms', 'integer')
    .addColumn('created_at', at, (c) => c.notNull())
    .execute()
  await table('credential_changes')
    .addColumn('vault_id', at, (c) => c.notNull())
    .addColumn('credential_id', at)
    .addColumn('change', at, (c) => c.notNull())
    .addColumn('api_key_id', at)
    .addColumn('session_id', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .execute()
  for (const name of ['credential_uses', 'credential_changes']) {
    await db.schema
      .createIndex(`${name}_by_age`)
      .on(name)
      .columns(['tenant_id', 'created_at', 'id'])
      .execute()
  }
  await db.schema
    .createIndex('credential_uses_of_credential')
    .on('credential_uses')
    .columns(['tenant_id', 'credential_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('credential_changes_of_vault')
    .on('credential_changes')
    .columns(['tenant_id', 'vault_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('credential_uses_of_session')
    .on('credential_uses')
    .columns(['tenant_id', 'session_id', 'created_at', 'id'])
    .execute()

  await db.schema
    .alterTable('sessions')
    .addColumn('vault_ids', at, (c) => c.notNull().defaultTo('[]'))
    .execute()
  await db.schema.alterTable('sessions').addColumn('sealed_tokens', at).execute()
  await sealedIndexes(db)
}

/** Few rows hold tokens, and theirs lie behind large configurations. */
async function sealedIndexes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('agent_versions_sealed')
    .on('agent_versions')
    .columns(['tenant_id', 'agent_id', 'version'])
    .where(sql.ref('sealed_tokens'), '<>', sql.lit('{}'))
    .execute()
  await db.schema
    .createIndex('sessions_sealed')
    .on('sessions')
    .columns(['tenant_id', 'id'])
    .where(sql.ref('sealed_tokens'), '<>', sql.lit('{}'))
    .execute()
}
