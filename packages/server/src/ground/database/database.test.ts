import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { createSeal } from '../core/security/seal.ts'
import type { Database, Queries } from './database.ts'
import { dialectOf } from './dialect.ts'
import { databases, emptyPostgresUrl } from './fixture.ts'
import { applyMigrations } from './migrate.ts'
import { postgresDatabase } from './postgres.ts'
import { selectRaw } from './select-raw.ts'
import { checkRootKey } from './root-key.ts'
import { defineStore } from './store-of.ts'
import { noSpending } from '../../sessions/log/head.ts'

const put = (database: Database, name: string, value = '1') =>
  database.write((tx) => tx.insertInto('settings').values({ name, value }).execute())

const settings = defineStore(
  (db) => ({ all: () => db.selectFrom('settings').selectAll().execute() }),
  (tx) => ({ clear: () => tx.deleteFrom('settings').execute() }),
)

const names = async (database: Database) => {
  const rows = await database.read.selectFrom('settings').select('name').orderBy('name').execute()
  return rows.map((row) => row.name)
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`a ${dialect} database`, () => {
    it('shows to `read` what was resolved', async () => {
      await using opened = await open()
      const { database } = opened
      for (let n = 0; n < 20; n++) {
        await put(database, `n${n}`)
        const row = database.read.selectFrom('settings').selectAll().where('name', '=', `n${n}`)
        assert.ok(await row.executeTakeFirst())
      }
    })

    it('keeps what 16 writers write at once', async () => {
      await using opened = await open()
      const { database } = opened
      await Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          for (let n = 0; n < 10; n++) await put(database, `w${writer}n${n}`)
        }),
      )
      assert.equal((await names(database)).length, 160)
    })

    it('writes all of a unit or nothing of it, and passes on what was thrown', async () => {
      await using opened = await open()
      const { database } = opened
      const thrown = new Error('no')
      const failing = database.write(async (tx) => {
        await tx.insertInto('settings').values({ name: 'a', value: '1' }).execute()
        throw thrown
      })
      const broken = database.write(async (tx) => {
        await tx.insertInto('settings').values({ name: 'b', value: '1' }).execute()
        await tx.insertInto('settings').values({ name: 'b', value: '2' }).execute()
      })
      const results = await Promise.allSettled([failing, broken, put(database, 'c')])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'rejected', 'fulfilled'],
      )
      await assert.rejects(failing, thrown)
      assert.deepEqual(await names(database), ['c'])
    })

    it('loses no step of a counter that many units move', async () => {
      await using opened = await open()
      const { database } = opened
      await put(database, 'n', '0')
      const step = () =>
        database.write(async (tx) => {
          const row = await tx
            .updateTable('settings')
            .set((eb) => ({ name: eb.ref('name') }))
            .where('name', '=', 'n')
            .returning('value')
            .executeTakeFirstOrThrow()
          await tx
            .updateTable('settings')
            .set({ value: String(Number(row.value) + 1) })
            .where('name', '=', 'n')
            .execute()
        })
      await Promise.all(Array.from({ length: 50 }, step))
      const row = database.read.selectFrom('settings').select('value').where('name', '=', 'n')
      assert.equal((await row.executeTakeFirstOrThrow()).value, '50')
    })

    it('reads through a connection whose type offers no write', async () => {
      await using opened = await open()
      const { read } = opened.database
      // The compiler refuses them; none of them runs.
      void [
        // @ts-expect-error -- writes go through a unit
        () => read.insertInto('settings'),
        // @ts-expect-error -- writes go through a unit
        () => read.updateTable('settings'),
        // @ts-expect-error -- writes go through a unit
        () => read.deleteFrom('settings'),
        // @ts-expect-error -- a common table expression may write
        () => read.with('put', (db) => db.deleteFrom('settings').returningAll()),
        // @ts-expect-error -- a unit opens the transaction
        () => read.transaction(),
        // @ts-expect-error -- a raw statement may write
        () => sql`delete from settings`.execute(read),
        // @ts-expect-error -- a store writes within a unit
        () => settings(read).clear(),
        // @ts-expect-error -- a reading connection is no transaction
        (): Queries => read,
      ]
      await put(opened.database, 'a')
      assert.equal((await settings(read).all()).length, 1)
      const chosen = sql<{ name: string }>`select name from settings`
      assert.deepEqual(
        (await selectRaw(read, chosen)).map(({ name }) => name),
        ['a'],
      )
      const cleared = sql`with gone as (delete from settings returning name) select name from gone`
      await assert.rejects(selectRaw(read, cleared), /runs selects alone/)
      await assert.rejects(selectRaw(read, sql`delete from settings`), /runs selects alone/)
      assert.deepEqual(await names(opened.database), ['a'])
    })

    it('names its dialect in a transaction and in a single statement', async () => {
      await using opened = await open()
      const { database } = opened
      const { dialect } = database
      assert.equal(await database.write(async (tx) => dialectOf(tx)), dialect)
      assert.equal(await database.writeStatement(async (db) => dialectOf(db)), dialect)
    })

    it('is migrated once, and a second time changes nothing', async () => {
      await using opened = await open()
      const { database } = opened
      if (database.dialect === 'postgres')
        await database.writeStatement((db) => applyMigrations(db, 'the database'))
      const tables = await database.read.introspection.getTables()
      const found = tables.map((table) => table.name)
      for (const name of ['settings', 'agents', 'sessions', 'session_heads', 'events', 'inbox'])
        assert.ok(found.includes(name), name)
    })

    it('gives large counters as numbers', async () => {
      await using opened = await open()
      const { database } = opened
      const head = {
        tenant_id: 't',
        session_id: 's',
        status: 'idle' as const,
        stop_reason: null,
        owner: null,
        outcome: 0,
        threads: 0,
        changed_ms: 0,
      }
      const now = 1_800_000_000_000
      await database.write((tx) =>
        tx
          .insertInto('session_heads')
          .values({ ...head, running_since_ms: now, ...zeros, expires_at: now })
          .execute(),
      )
      const row = await database.read
        .selectFrom('session_heads')
        .selectAll()
        .executeTakeFirstOrThrow()
      assert.equal(row.running_since_ms, now)
      assert.equal(row.expires_at, now)
      assert.equal(row.next_seq, 0)
    })

    it('remembers its root secret, and refuses another by name', async () => {
      await using opened = await open()
      const { database } = opened
      const [ours, other] = [createSeal('a secret'), createSeal('another secret')]
      await Promise.all([checkRootKey(database, ours), checkRootKey(database, ours)])
      await checkRootKey(database, ours)
      await assert.rejects(checkRootKey(database, other), (error: Error) => {
        for (const part of ['PLATFORM_ROOT_SECRET', ours.keyId, other.keyId])
          assert.ok(error.message.includes(part), part)
        return true
      })
      await checkRootKey(database, ours)
    })
  })
}

const zeros = {
  ...noSpending,
  next_seq: 0,
  inbox_bytes: 0,
  next_position: 0,
  due: 0,
  generation: 0,
  active_ms: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  stdio_ms: null,
  awaits_stdio: 0,
  url_servers: 0,
  recoveries: 0,
}

describe('processes that start together on one empty Postgres', () => {
  it('all come up, and only one root secret is remembered', async () => {
    const url = await emptyPostgresUrl()
    const opened = await Promise.all([1, 2, 3, 4].map(() => postgresDatabase(url)))
    const seals = opened.map((_, n) => createSeal(`secret ${n}`))
    const results = await Promise.allSettled(
      opened.map((database, n) => checkRootKey(database, seals[n] ?? createSeal(''))),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    await Promise.all(opened.map((database) => database.close()))
  })
})
