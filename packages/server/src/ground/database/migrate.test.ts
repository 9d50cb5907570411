import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Database, Queries } from './database.ts'
import { fromJson } from '../core/json-text.ts'
import { dialectOf } from './dialect.ts'
import { emptyPostgresUrl } from './fixture.ts'
import { migrationNames, replacedMigrations } from './migrate.ts'
import * as schema from './migrations/0001-schema.ts'
import { postgresDatabase } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

/** A database that can be closed and opened again. */
type Place = AsyncDisposable & { open: () => Promise<Database> }

const places: Record<Database['dialect'], () => Promise<Place>> = {
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

const first: Migration = schema

/** Tables take their triggers with them, and leave the functions of these. */
async function dropFunctions(tx: Queries): Promise<void> {
  if (dialectOf(tx) === 'sqlite') return
  const { rows } = await sql<{ name: string }>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace`.execute(tx)
  for (const { name } of rows) await sql`drop function ${sql.id(name)}`.execute(tx)
}

/** The tables of the first migration, in place of those of all migrations. */
async function makeFirstTables(tx: Queries): Promise<void> {
  for (const { name } of await tx.introspection.getTables())
    await tx.schema.dropTable(name).execute()
  await dropFunctions(tx)
  await first.up(tx)
}

const ofEachType = `insert into session_resources
  (tenant_id, session_id, id, type, file_id, mount_path, resolved_path, created_at, updated_at, url, checkout,
    sealed_token, cloned_at, memory_store_id, access, name, description, instructions) values
  ('t', 's', '1', 'file', 'file_1', 'a', '/a', 'then', 'then', null, null, null, null, null, null, null, null, null),
  ('t', 's', '2', 'github_repository', null, 'b', '/b', 'then', 'then', 'https://git.example/b',
    '{"type":"branch","name":"next \u00fc"}', 'v1.x', 'later', null, null, null, null, null),
  ('t', 's', '3', 'github_repository', null, 'c', '/c', 'then', 'then', 'https://git.example/c',
    null, null, null, null, null, null, null, null),
  ('t', 's', '4', 'memory_store', null, '/mnt/memory/d', '/mnt/memory/d', 'then', 'then',
    null, null, null, null, 'memstore_1', 'read_only', 'Notes "of" all', '', null)`

/** Makes a database of the first migration with some rows, and records the given migrations. */
async function recordedAs(
  place: Place,
  names: readonly string[],
  also = 'select 1',
): Promise<void> {
  const database = await place.open()
  await database.write(async (tx) => {
    await makeFirstTables(tx)
    for (const statement of [ofEachType, also]) await sql.raw(statement).execute(tx)
    await tx.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute()
    await sql`delete from kysely_migration`.execute(tx)
    for (const name of names)
      await sql`insert into kysely_migration values (${name}, '2026-01-01T00:00:00Z')`.execute(tx)
  })
  await database.close()
}

for (const [dialect, placeOf] of Object.entries(places)) {
  describe(`a ${dialect} database of an earlier version`, () => {
    it('opens with its rows when it has all of the earlier migrations', async () => {
      await using place = await placeOf()
      await recordedAs(place, replacedMigrations)
      for (const _start of ['first', 'second']) {
        const database = await place.open()
        const row = database.read.selectFrom('settings').select('value').where('name', '=', 'kept')
        assert.equal((await row.executeTakeFirst())?.value, 'yes')
        assert.deepEqual(await database.write(recorded), [...migrationNames])
        await database.close()
      }
    })

    it('keeps what the resources of its sessions are', async () => {
      await using place = await placeOf()
      await recordedAs(place, ['0001-schema'])
      const database = await place.open()
      const resources = database.read.selectFrom('session_resources').selectAll().orderBy('id')
      const own = { tenant_id: 't', session_id: 's', created_at: 'then', updated_at: 'then' }
      const none = { ...own, sealed_token: null, mounted_at: null, refers_to: null }
      const found = (await resources.execute()).map((row) => ({
        ...row,
        fields: fromJson(row.fields),
      }))
      assert.deepEqual(found, [
        {
          ...{ ...none, id: '1', type: 'file', mount_path: 'a', resolved_path: '/a' },
          ...{ refers_to: 'file_1', fields: { file_id: 'file_1' } },
        },
        {
          ...{ ...none, id: '2', type: 'github_repository', mount_path: 'b', resolved_path: '/b' },
          ...{ sealed_token: 'v1.x', mounted_at: 'later' },
          fields: {
            url: 'https://git.example/b',
            checkout: { type: 'branch', name: 'next ü' },
          },
        },
        {
          ...{ ...none, id: '3', type: 'github_repository', mount_path: 'c', resolved_path: '/c' },
          fields: { url: 'https://git.example/c', checkout: null },
        },
        {
          ...{ ...none, id: '4', type: 'memory_store', refers_to: 'memstore_1' },
          ...{ mount_path: '/mnt/memory/d', resolved_path: '/mnt/memory/d' },
          fields: {
            ...{ memory_store_id: 'memstore_1', instructions: null, access: 'read_only' },
            ...{ name: 'Notes "of" all', description: '' },
          },
        },
      ])
      await database.close()
    })

    it('gets a migration that it lacks, though it has a later one', async () => {
      await using place = await placeOf()
      const former = await place.open()
      await former.write(async (tx) => {
        await sql`create table replays (id text)`.execute(tx)
        await sql`delete from kysely_migration where name = '0026-no-replays'`.execute(tx)
      })
      await former.close()
      const database = await place.open()
      assert.deepEqual(await database.write(recorded), [...migrationNames])
      const tables = await database.read.introspection.getTables()
      assert.ok(tables.every(({ name }) => name !== 'replays'))
      await database.close()
    })

    it('is left as it was by a start that ends in the midst of a migration', async () => {
      await using place = await placeOf()
      // The last of the tables that are made: whatever came before it would be in the way of the second start.
      await recordedAs(place, replacedMigrations, 'create table workspace_limits (id text)')
      for (const _start of ['first', 'second'])
        await assert.rejects(place.open(), (error: Error) =>
          /workspace_limits"? already exists/.test(String(error.cause)),
        )
    })

    it('is refused, and left as it is, when it has only some of them', async () => {
      await using place = await placeOf()
      await recordedAs(place, replacedMigrations.slice(0, -1))
      const refused =
        /has 23 of the 24 migrations .* once from commit [0-9a-f]{7}, then from this one/
      await assert.rejects(place.open(), refused)
      await assert.rejects(place.open(), refused)
    })
  })
}

describe('processes that start together on one Postgres of an earlier version', () => {
  it('all come up', async () => {
    const url = await emptyPostgresUrl()
    await recordedAs(
      { open: () => postgresDatabase(url), [Symbol.asyncDispose]: async () => {} },
      replacedMigrations,
    )
    const opened = await Promise.all([1, 2, 3, 4].map(() => postgresDatabase(url)))
    for (const database of opened) {
      assert.deepEqual(await database.write(recorded), [...migrationNames])
      await database.close()
    }
  })
})
