import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Database, Queries } from './database.ts'
import { dialectOf } from './dialect.ts'
import { emptyPostgresUrl } from './fixture.ts'
import { migrationNames, replacedMigrations } from './migrate.ts'
import { postgresDatabase } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

/** A database that can be closed and opened again. */
type TestSetup = AsyncDisposable & { open: () => Promise<Database> }

const hosts: Record<Database['dialect'], () => Promise<TestSetup>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    return {
      open: () => sqliteDatabase(join(folder, 'steward.db')),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    }
  },
  async postgres() {
    const url = await emptyPostgresUrl()
    return { open: () => postgresDatabase(url), [Symbol.asyncDispose]: () => Promise.resolve() }
  },
}

async function recorded(tx: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(tx)
  return rows.map(({ name }) => name).toSorted()
}

/** Tables take their triggers with them, and leave the functions of these. */
async function dropTables(tx: Queries): Promise<void> {
  for (const { name } of await tx.introspection.getTables())
    await tx.schema.dropTable(name).execute()
  if (dialectOf(tx) === 'sqlite') return
  const { rows } = await sql<{ name: string }>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace`.execute(tx)
  for (const { name } of rows) await sql`drop function ${sql.id(name)}`.execute(tx)
}

async function recordAs(tx: Queries, names: readonly string[]): Promise<void> {
  await sql`delete from kysely_migration`.execute(tx)
  for (const name of names)
    await sql`insert into kysely_migration values (${name}, '2026-01-01T00:00:00Z')`.execute(tx)
}

/** Columns that migrations behind the first one have added. */
const addedColumns = [
  ['session_heads', 'web_searches'],
  ['threads', 'web_searches'],
  ['api_keys', 'archived_at'],
  ['session_heads', 'changed_ms'],
  ['session_heads', 'turns'],
  ['members', 'looked_ms'],
  ['agent_versions', 'creator_type'],
  ['agent_versions', 'creator_id'],
  ['agent_versions', 'creator_name'],
  ['sessions', 'creator_type'],
  ['sessions', 'creator_id'],
  ['sessions', 'creator_name'],
  ['sessions', 'allowances'],
  ['api_keys', 'client_id'],
  ['api_keys', 'role'],
  ['members', 'provider_id'],
  ['sign_ins', 'provider_id'],
  ['sessions', 'outputs_path'],
  ['inbox', 'steers'],
  ...(
    [
      'number',
      'event_id',
      'target',
      'missing',
      'answer_state',
      'answer_url',
      'answer_reason',
      'answer_event',
    ] as const
  ).map((name) => ['integration_deliveries', name] as const),
  ['integration_threads', 'turn_target'],
  ['publications', 'known_ids'],
  ['integration_threads', 'reads_only'],
  ['integration_threads', 'wakes'],
] as const
const addedIndexes = [
  'api_keys_of_logins',
  'heads_changed',
  'heads_at_budget',
  'threads_rescheduling',
  'sessions_forked',
  'integration_deliveries_open',
  'integration_threads_of_session',
  'sessions_of_creators',
]
const addedTables = [
  'session_waits',
  'saved_views',
  'subjects',
  'provider_grants',
  'oauth_tokens',
  'oauth_requests',
  'secret_reads',
  'workspace_rules',
  'holds',
  'hold_marks',
  'person_removals',
  'message_requests',
  'message_usage',
  'audit_streams',
  'integration_pull_requests',
]

/** What an earlier database has recorded once this version has opened it. */
const upToDate = [...replacedMigrations, ...migrationNames.slice(1)].toSorted()

/** Makes a database with a row of settings, as a version with the given earlier migrations has made it. */
async function makeDatabase(testSetup: TestSetup, names: readonly string[]): Promise<void> {
  const database = await testSetup.open()
  await database.write(async (tx) => {
    for (const name of addedTables) await tx.schema.dropTable(name).execute()
    for (const name of addedIndexes) await tx.schema.dropIndex(name).execute()
    for (const [table, column] of addedColumns)
      await tx.schema.alterTable(table).dropColumn(column).execute()
    await tx.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute()
    await recordAs(tx, names)
  })
  await database.close()
}

for (const [dialect, setupOf] of Object.entries(hosts)) {
  describe(`a ${dialect} database of an earlier version`, () => {
    it('opens with its rows when it has all of the earlier migrations, and is migrated once', async () => {
      await using testSetup = await setupOf()
      await makeDatabase(testSetup, replacedMigrations)
      for (const _start of ['first', 'second']) {
        const database = await testSetup.open()
        const row = database.read.selectFrom('settings').select('value').where('name', '=', 'kept')
        assert.equal((await row.executeTakeFirst())?.value, 'yes')
        assert.deepEqual(await database.write(recorded), upToDate)
        await database.write(async (tx) => {
          for (const [table, column] of addedColumns)
            await sql`select ${sql.ref(column)} from ${sql.table(table)}`.execute(tx)
        })
        await database.close()
      }
    })

    it('is not changed by a start that ends in the midst of a migration', async () => {
      await using testSetup = await setupOf()
      const former = await testSetup.open()
      await former.write(async (tx) => {
        await dropTables(tx)
        // One of the last tables: whatever was made before it would be in the way of the second start.
        await sql`create table spend_limits (id text)`.execute(tx)
        await recordAs(tx, [])
      })
      await former.close()
      for (const _start of ['first', 'second'])
        await assert.rejects(testSetup.open(), (error: Error) =>
          /spend_limits"? already exists/.test(String(error.cause)),
        )
    })

    it('is refused, and not changed, when it has only some of them', async () => {
      await using testSetup = await setupOf()
      await makeDatabase(testSetup, replacedMigrations.slice(0, -1))
      const refused = /start the server once from that commit .* then start this version/
      for (const _start of ['first', 'second']) await assert.rejects(testSetup.open(), refused)
    })
  })
}

for (const [dialect, setupOf] of Object.entries(hosts)) {
  /** A database that a newer version has changed by a migration of this name. */
  async function makeNewer(testSetup: TestSetup, name: string): Promise<void> {
    const database = await testSetup.open()
    await database.write(async (tx) => {
      await sql`alter table settings add column note text`.execute(tx)
      await recordAs(tx, [...migrationNames, name])
    })
    await database.close()
  }

  describe(`a ${dialect} database of a newer version`, () => {
    it('is served when that version has only added', async () => {
      await using testSetup = await setupOf()
      await makeNewer(testSetup, '9999-notes+')
      const database = await testSetup.open()
      await database.write(async (tx) => {
        await tx.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute()
      })
      assert.deepEqual(
        await database.write(recorded),
        [...migrationNames, '9999-notes+'].toSorted(),
      )
      await database.close()
    })

    it('is refused, and not changed, when that version has changed more', async () => {
      await using testSetup = await setupOf()
      await makeNewer(testSetup, '9999-notes')
      const refused = /a newer version of Steward has made .* \(migration 9999-notes\)/
      for (const _start of ['first', 'second']) await assert.rejects(testSetup.open(), refused)
    })
  })
}

describe('processes that start together on one Postgres of an earlier version', () => {
  it('all come up', async () => {
    const url = await emptyPostgresUrl()
    await makeDatabase(
      { open: () => postgresDatabase(url), [Symbol.asyncDispose]: async () => {} },
      replacedMigrations,
    )
    const opened = await Promise.all([1, 2, 3, 4].map(() => postgresDatabase(url)))
    for (const database of opened) {
      assert.deepEqual(await database.write(recorded), upToDate)
      await database.close()
    }
  })
})
