import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import type { StorageError } from '../core/errors.ts'
import type { Database, Queries } from './database.ts'
import { newPostgresUrl } from './fixture.ts'
import { StatementBatch } from './postgres-batch.ts'
import { postgresDatabase } from './postgres.ts'
import { postgresProxy } from './proxy-fixture.ts'
import type { SlotFor } from './statement.ts'
import { insertRows, selectStatement, statement } from './statement.ts'

const setting = (name: string, value = '1') => ({ name, value })

const valueOf = selectStatement((db, slot: SlotFor<string>) =>
  db
    .selectFrom('settings')
    .selectAll()
    .where(
      'name',
      '=',
      slot((name) => name),
    ),
)

/** A statement that takes this number of seconds in Postgres. */
const waits = selectStatement((db, slot: SlotFor<number>) =>
  db.selectNoFrom(sql`pg_sleep(${slot((seconds) => seconds)})`.as('slept')),
)

const divides = selectStatement((db, slot: SlotFor<number>) =>
  db.selectNoFrom(sql<number>`100 / ${slot((by) => by)}::int`.as('result')),
)

async function opened(limits?: { connectMs: number; statementMs: number; heartbeatMs: number }) {
  const database = await postgresDatabase(await newPostgresUrl(), limits)
  return { database, [Symbol.asyncDispose]: () => database.close() }
}

/** The statements that `act` sends, one line for each round trip. */
async function roundTripsOf(act: () => Promise<unknown>): Promise<string[]> {
  const query = mock.method(pg.Client.prototype, 'query')
  try {
    await act()
    return query.mock.calls.map(({ arguments: [given] }) => {
      const sent: unknown = given
      const texts = sent instanceof StatementBatch ? sent.texts : [(sent as { text: string }).text]
      return texts.map((text) => text.split(' ', 1)[0]).join(' ')
    })
  } finally {
    query.mock.restore()
  }
}

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => assert.fail('it was not refused'),
    (error: Error) => error,
  )

const count = async ({ read }: Database) =>
  (await read.selectFrom('settings').select('name').execute()).length

describe('a unit on Postgres', () => {
  it('takes one round trip where nobody reads a result, and none without a statement', async () => {
    await using at = await opened()
    const { database } = at
    const write = () =>
      database.write(async (tx) => {
        await insertRows(tx, 'settings', [setting('a')])
        await insertRows(tx, 'settings', [setting('b'), setting('c')])
      })
    assert.deepEqual(await roundTripsOf(write), ['begin insert insert commit'])
    assert.equal(await count(database), 3)
    assert.deepEqual(await roundTripsOf(() => database.write(async () => {})), [])
    const gives = database.write(async (tx) => {
      await insertRows(tx, 'settings', [setting('d')])
      throw new Error('no')
    })
    await assert.rejects(gives, /no/)
    assert.equal(await count(database), 3)
  })

  it('begins with its first statement, and sees what it wrote', async () => {
    await using at = await opened()
    const { database } = at
    const trips = await roundTripsOf(() =>
      database.write(async (tx) => {
        await insertRows(tx, 'settings', [setting('a', 'kept')])
        assert.equal((await valueOf(tx, 'a'))[0]?.value, 'kept')
        await tx.deleteFrom('settings').where('name', '=', 'none').execute()
        await insertRows(tx, 'settings', [setting('b')])
      }),
    )
    assert.deepEqual(trips, ['begin insert select', 'delete', 'insert commit'])
  })

  it('fails as a whole with a statement that was sent with others, and its connection goes on', async () => {
    await using at = await opened()
    const { database } = at
    await insertInto(database, 'a')
    const fresh = statement((tx, slot: SlotFor<string>) =>
      tx
        .selectFrom('settings')
        .select('value')
        .where(
          'name',
          '=',
          slot((name) => name),
        ),
    )
    for (let round = 0; round < 2; round++) {
      const twice = database.write(async (tx) => {
        await insertRows(tx, 'settings', [setting(`b${round}`)])
        await insertRows(tx, 'settings', [setting('a')])
        await fresh(tx, 'a')
      })
      assert.match(String(await failure(twice)), /duplicate key/)
      const atCommit = database.write((tx) => insertRows(tx, 'settings', [setting('a')]))
      assert.match(String(await failure(atCommit)), /duplicate key/)
      assert.equal((await database.write((tx) => fresh(tx, 'a'))).length, 1)
    }
    assert.equal(await count(database), 1)
  })

  it('writes nothing where it goes on after a statement that failed, and says so', async () => {
    await using at = await opened()
    const { database } = at
    const goesOn = database.write(async (tx) => {
      await insertRows(tx, 'settings', [setting('a')])
      await sql`select 1 / 0`.execute(tx).catch(() => {})
    })
    assert.match(String(await failure(goesOn)), /went on after one of its statements had failed/)
    assert.equal(await count(database), 0)
  })

  it('keeps nothing of a unit with a value that cannot be sent, and its connection is not used again', async () => {
    await using at = await opened()
    const { database } = at
    const value = { toPostgres: () => assert.fail('a value that cannot be sent') }
    const broken = database.write(async (tx) => {
      await insertRows(tx, 'settings', [setting('a')])
      await insertRows(tx, 'settings', [{ name: 'b', value: value as never }])
    })
    assert.match(String(await failure(broken)), /a value that cannot be sent/)
    assert.equal(await count(database), 0)
    await insertInto(database, 'c')
    assert.equal(await count(database), 1)
  })
})

const insertInto = (database: Database, name: string) =>
  database.write((tx: Queries) => insertRows(tx, 'settings', [setting(name)]))

describe('statements that Postgres keeps by name', () => {
  it('are made anew when a migration changes the columns that their stars select', async () => {
    await using at = await opened()
    const { database } = at
    await insertInto(database, 'a')
    const both = async () => [
      (await valueOf(database.read, 'a'))[0],
      (await database.write((tx) => valueOf(tx, 'a')))[0],
      (await database.writeStatement((db) => valueOf(db, 'a')))[0],
    ]
    assert.deepEqual(await both(), Array(3).fill({ name: 'a', value: '1' }))
    await database.write((tx) => sql`alter table settings add column more text`.execute(tx))
    assert.deepEqual(await both(), Array(3).fill({ name: 'a', value: '1', more: null }))
  })
})

describe('readers that share connections', () => {
  const limits = { connectMs: 1_500, statementMs: 700, heartbeatMs: 700 }

  it('get their own answers, also beside one that fails', async () => {
    await using at = await opened()
    const { read } = at.database
    const asked = Array.from({ length: 200 }, (_, n) => n % 20)
    const answers = await Promise.allSettled(asked.map((by) => divides(read, by)))
    for (const [index, answer] of answers.entries()) {
      const by = asked[index] ?? 0
      if (by === 0) assert.match(String(answer.status === 'rejected' && answer.reason), /by zero/)
      else
        assert.deepEqual(answer, { status: 'fulfilled', value: [{ result: Math.trunc(100 / by) }] })
    }
  })

  it('see what was written before they asked', async () => {
    await using at = await opened()
    for (let n = 0; n < 50; n++) {
      await insertInto(at.database, `n${n}`)
      assert.equal((await valueOf(at.database.read, `n${n}`)).length, 1)
    }
  })

  it('lose unanswered statements with the connection, and go on with another', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    const database = await postgresDatabase(proxy.url, limits)
    const ask = () => divides(database.read, 1)
    await Promise.all(Array.from({ length: 20 }, ask))
    for (const lose of [() => proxy.cut(), () => proxy.vanish()]) {
      lose()
      const began = performance.now()
      const answers = await Promise.allSettled(Array.from({ length: 20 }, ask))
      assert.ok(performance.now() - began < 5_000)
      for (const answer of answers) {
        if (answer.status === 'fulfilled') continue
        const { reason, isUnsure } = answer.reason as StorageError
        assert.deepEqual([reason, isUnsure], ['away', false])
      }
      proxy.resume()
      while ((await Promise.allSettled([ask()]))[0].status === 'rejected')
        await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(await Promise.all([ask(), ask()]), Array(2).fill([{ result: 100 }]))
    }
    await database.close()
  })

  it('fail alone where a statement takes too long', async () => {
    await using at = await opened(limits)
    const { read } = at.database
    const slow = failure(waits(read, 20))
    assert.equal(((await slow) as StorageError).reason, 'away')
    assert.deepEqual(await divides(read, 4), [{ result: 25 }])
  })
})
