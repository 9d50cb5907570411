import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** One schema for both databases. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const table = (name: string) => db.schema.createTable(name)
  const at = 'text' as const

  await table('settings')
    .addColumn('name', at, (c) => c.primaryKey())
    .addColumn('value', at, (c) => c.notNull())
    .execute()

  await table('workspaces')
    .addColumn('id', at, (c) => c.primaryKey())
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .execute()

  await table('api_keys')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.primaryKey())
    .addColumn('kind', at, (c) => c.notNull())
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('admin', 'integer', (c) => c.notNull())
    .addColumn('environment_id', at)
    .addColumn('hash', at, (c) => c.notNull().unique())
    .addColumn('preview', at, (c) => c.notNull())
    .addColumn('expires_at', at)
    .addColumn('revoked_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .execute()

  await table('agents')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('environment_id', at)
    .addColumn('config', at, (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('agents_key', ['tenant_id', 'id'])
    .execute()

  await table('agent_versions')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('agent_id', at, (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('config', at, (c) => c.notNull())
    .addColumn('sealed_tokens', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_versions_key', ['tenant_id', 'agent_id', 'version'])
    .execute()

  await table('environments')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('name', at, (c) => c.notNull())
    .addColumn('record', at, (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('environments_key', ['tenant_id', 'id'])
    .addUniqueConstraint('environments_name', ['tenant_id', 'name'])
    .execute()

  await table('model_cards')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('model_id', at, (c) => c.notNull())
    .addColumn('model', at, (c) => c.notNull())
    .addColumn('card', at, (c) => c.notNull())
    .addColumn('sealed_key', at, (c) => c.notNull())
    .addColumn('sealed_headers', at)
    .addColumn('api_key_preview', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('model_cards_key', ['tenant_id', 'id'])
    .addUniqueConstraint('model_cards_handle', ['tenant_id', 'model_id'])
    .execute()

  await sessionTables(db)
  await indexes(db)
}

/** Rows that lie in the order of their key: appended and read by session, without an index beside the table. */
const inOrder = (db: Kysely<unknown>) =>
  db.getExecutor().adapter.supportsTransactionalDdl ? sql`` : sql`without rowid`

async function sessionTables(db: Kysely<unknown>): Promise<void> {
  const table = (name: string) => db.schema.createTable(name)
  const at = 'text' as const

  await table('sessions')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('agent_id', at, (c) => c.notNull())
    .addColumn('agent_version', 'integer', (c) => c.notNull())
    .addColumn('agent', at, (c) => c.notNull())
    .addColumn('environment_id', at, (c) => c.notNull())
    .addColumn('title', at)
    .addColumn('metadata', at, (c) => c.notNull())
    .addColumn('archived_at', at)
    .addColumn('deleted_at', at)
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('updated_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('sessions_key', ['tenant_id', 'id'])
    .execute()

  let heads = table('session_heads')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.primaryKey())
    .addColumn('status', at, (c) => c.notNull())
    .addColumn('stop_reason', at)
    .addColumn('owner', at)
    .addColumn('running_since_ms', 'bigint')
  const counters = ['next_seq', 'next_position', 'due', 'generation', 'expires_at', 'active_ms']
  const tokens = [
    'input_tokens',
    'output_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
  ]
  for (const name of [...counters, ...tokens]) {
    heads = heads.addColumn(name, 'bigint', (c) => c.notNull().defaultTo(0))
  }
  await heads.execute()

  await table('inbox')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('type', at, (c) => c.notNull())
    .addColumn('event', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('inbox_key', ['session_id', 'position'])
    .modifyEnd(inOrder(db))
    .execute()

  await table('events')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('id', at, (c) => c.notNull())
    .addColumn('type', at, (c) => c.notNull())
    .addColumn('created_at', at, (c) => c.notNull())
    .addColumn('processed_at', at)
    .addColumn('data', at, (c) => c.notNull())
    .addColumn('opaque', at)
    .addPrimaryKeyConstraint('events_key', ['session_id', 'seq'])
    .modifyEnd(inOrder(db))
    .execute()

  await table('calls')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('event_id', at, (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('state', at, (c) => c.notNull())
    .addColumn('deny_message', at)
    .addPrimaryKeyConstraint('calls_key', ['session_id', 'event_id'])
    .modifyEnd(inOrder(db))
    .execute()
}

/** Partial where only few rows matter, so that a long history costs nothing. */
async function indexes(db: Kysely<unknown>): Promise<void> {
  const index = (name: string) => db.schema.createIndex(name)
  await index('agents_listed').on('agents').columns(['tenant_id', 'created_at', 'id']).execute()
  await index('agents_environment').on('agents').columns(['tenant_id', 'environment_id']).execute()
  await index('environments_listed')
    .on('environments')
    .columns(['tenant_id', 'created_at', 'id'])
    .execute()
  await index('sessions_listed').on('sessions').columns(['tenant_id', 'created_at', 'id']).execute()
  await index('sessions_agent')
    .on('sessions')
    .columns(['tenant_id', 'agent_id', 'created_at', 'id'])
    .execute()
  await index('sessions_environment')
    .on('sessions')
    .columns(['tenant_id', 'environment_id'])
    .execute()
  await index('api_keys_listed').on('api_keys').columns(['tenant_id', 'created_at', 'id']).execute()
  await index('model_cards_wire').on('model_cards').columns(['tenant_id', 'model']).execute()
  await index('heads_due')
    .on('session_heads')
    .columns(['session_id'])
    .where(sql.ref('due'), '=', 1)
    .execute()
  await index('heads_owned')
    .on('session_heads')
    .columns(['owner'])
    .where(sql.ref('owner'), 'is not', null)
    .execute()
  await index('inbox_interrupts')
    .on('inbox')
    .columns(['session_id', 'position'])
    .where(sql.ref('type'), '=', 'user.interrupt')
    .execute()
  await index('calls_open')
    .on('calls')
    .columns(['session_id'])
    .where(sql.ref('state'), '<>', 'done')
    .execute()
}
