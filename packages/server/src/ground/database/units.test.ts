import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { withoutNotices } from './notices.ts'
import type { Tables } from './tables.ts'
import { unitQueue } from './units.ts'

/** The units write without Kysely, so that only the queue is tested. */
const unused = withoutNotices(
  new Kysely<Tables>({
    dialect: {
      createDriver: () => new DummyDriver(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  }),
)

function queueOn(db = new DatabaseSync(':memory:')) {
  db.exec('create table t (n integer primary key)')
  const steps: string[] = []
  const time = { ms: 0 }
  const held: number[] = []
  const queue = unitQueue(
    unused,
    (statement) => {
      steps.push(statement)
      db.exec(statement)
    },
    { now: () => time.ms, addHeldMs: (ms) => void held.push(ms) },
  )
  const insert = (n: number) => queue.write(async () => db.exec(`insert into t values (${n})`))
  const rows = () =>
    db
      .prepare('select n from t order by n')
      .all()
      .map((row) => Number(row['n']))
  const count = (step: string) => steps.filter((each) => each === step).length
  return { db, queue, insert, rows, count, steps, time, held }
}

describe('a queue of units', () => {
  it('lets 16 writers share a commit', async () => {
    const { insert, rows, count } = queueOn()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 16 }, (_, n) => insert(round * 16 + n)))
    }
    assert.equal(rows().length, 160)
    assert.equal(count('commit'), 10)
  })

  it('runs each unit in the context of who asked for it, although they share a commit', async () => {
    const { queue } = queueOn()
    const caller = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const note = () => queue.write(async () => seen.push(caller.getStore()))
    await Promise.all([caller.run('first', note), note(), caller.run('second', note)])
    assert.deepEqual(seen, ['first', undefined, 'second'])
  })

  it('gives units of one tick to at most 128 a commit, in the order they came', async () => {
    const { insert, count } = queueOn()
    const ended: number[] = []
    const all = Array.from({ length: 300 }, (_, n) => insert(n).then(() => ended.push(n)))
    await Promise.all(all)
    assert.equal(count('commit'), 3)
    assert.deepEqual(
      ended,
      ended.toSorted((a, b) => a - b),
    )
  })

  it('ends a batch with a unit that took long, and commits it in the next round of the loop', async () => {
    const { db, queue, insert, rows, count, steps, time, held } = queueOn()
    const ended: number[] = []
    const first = insert(1)
    const long = queue.write(async () => {
      db.exec('insert into t values (2)')
      time.ms += 60
      // When this runs, the unit has ended and its commit has not.
      setImmediate(() => steps.push('others'))
    })
    const all = [
      first.then(() => ended.push(1)),
      long.then(() => ended.push(2)),
      insert(3).then(() => ended.push(3)),
    ]
    await Promise.all(all)
    assert.deepEqual(rows(), [1, 2, 3])
    assert.equal(count('commit'), 2)
    assert.deepEqual(held, [60], 'it is said how long the unit and its commit held the loop')
    assert.ok(steps.indexOf('others') < steps.indexOf('commit'))
    assert.equal(ended.at(-1), 3)
  })

  it('rolls a failing unit back alone', async () => {
    const { db, queue, insert, rows, count } = queueOn()
    const failing = queue.write(async () => {
      db.exec('insert into t values (2)')
      throw new Error('no')
    })
    const results = await Promise.allSettled([insert(1), failing, insert(3)])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(rows(), [1, 3])
    assert.equal(count('commit'), 1)
  })

  it('gives a unit that is alone no savepoint, and takes it back with its transaction', async () => {
    const { db, queue, insert, rows, count } = queueOn()
    await insert(1)
    const failing = queue.write(async () => {
      db.exec('insert into t values (2)')
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    await insert(3)
    assert.deepEqual(rows(), [1, 3])
    assert.deepEqual([count('commit'), count('rollback'), count('savepoint unit')], [2, 1, 0])
  })

  it('rejects a unit that throws before it returns a promise', async () => {
    const { queue } = queueOn()
    const thrown = new Error('at once')
    await assert.rejects(
      queue.write(() => {
        throw thrown
      }),
      thrown,
    )
  })

  it('rejects every unit of a batch whose commit fails, and goes on with the next', async () => {
    const { db, insert, rows } = queueOn()
    db.exec('pragma foreign_keys = on')
    db.exec('create table child (n integer references t (n) deferrable initially deferred)')
    const broken = queueOnSame(db)
    const results = await Promise.allSettled([
      broken.write(async () => db.exec('insert into child values (99)')),
      broken.write(async () => db.exec('insert into t values (1)')),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual(rows(), [])
    await insert(2)
    assert.deepEqual(rows(), [2])
  })

  it('rejects every unit of a batch when the database rolls back by itself', async () => {
    const { db, queue, insert, rows } = queueOn()
    const results = await Promise.allSettled([
      insert(1),
      queue.write(async () => db.exec('insert or rollback into t values (1)')),
      insert(3),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    await insert(4)
    assert.deepEqual(rows(), [4])
  })

  it('refuses a unit that awaits something else, and runs those behind it', async () => {
    const { db, queue, insert, rows } = queueOn()
    const foreign = queue.write(async () => {
      db.exec('insert into t values (1)')
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
    })
    const behind = insert(2)
    await assert.rejects(foreign, /awaited something other than its own transaction/)
    await behind
    assert.deepEqual(rows(), [2])
  })

  it('refuses a write within a unit, at once', async () => {
    const { db, queue, insert, rows } = queueOn()
    const nested = queue.write(async () => {
      db.exec('insert into t values (1)')
      await insert(2)
    })
    await assert.rejects(nested, /a unit writes through its own transaction alone/)
    await queue.drained()
    assert.deepEqual(rows(), [])
  })

  it('lets an answered writer write again', async () => {
    const { insert, rows } = queueOn()
    await insert(1)
    await insert(2)
    assert.deepEqual(rows(), [1, 2])
  })

  it('is drained when everything that was asked for is settled', async () => {
    const { queue, insert, rows } = queueOn()
    const all = Promise.all(Array.from({ length: 200 }, (_, n) => insert(n)))
    await queue.drained()
    assert.equal(rows().length, 200)
    await all
    await queue.drained()
  })
})

const queueOnSame = (db: DatabaseSync) => unitQueue(unused, (statement) => db.exec(statement))
