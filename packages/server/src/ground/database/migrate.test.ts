import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Database, Queries } from './database.ts'
import { emptyPostgresUrl } from './fixture.ts'
import { replaced } from './migrate.ts'
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

/** Makes a database with a row, and records the given migrations in place of its own. */
async function recordedAs(place: Place, names: readonly string[]): Promise<void> {
  const database = await place.open()
  await database.write(async (tx) => {
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
      await recordedAs(place, replaced)
      for (const _start of ['first', 'second']) {
        const database = await place.open()
        const row = database.read.selectFrom('settings').select('value').where('name', '=', 'kept')
        assert.equal((await row.executeTakeFirst())?.value, 'yes')
        assert.deepEqual(await database.write(recorded), ['0001-schema'])
        await database.close()
      }
    })

    it('is refused, and left as it is, when it has only some of them', async () => {
      await using place = await placeOf()
      await recordedAs(place, replaced.slice(0, -1))
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
      replaced,
    )
    const opened = await Promise.all([1, 2, 3, 4].map(() => postgresDatabase(url)))
    for (const database of opened) {
      assert.deepEqual(await database.write(recorded), ['0001-schema'])
      await database.close()
    }
  })
})
