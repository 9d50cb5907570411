import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import type { Notice } from '../core/notice.ts'
import type { Connection, Database, Queries, Reads } from './database.ts'
import { databases } from './fixture.ts'
import { withNotices } from './notices.ts'

const notice = (n: number): Notice => ({ topic: 'numbers', message: { n } })

/** Publishes into `heard`. Publishing the topic `deaf` throws. */
function heardBy(database: Database) {
  const heard: Notice[] = []
  const failed: unknown[] = []
  const db = withNotices(database, {
    publish(told) {
      if (told.topic === 'deaf') throw new Error('nobody hears')
      heard.push(told)
    },
    log: { error: (message, fields) => void failed.push({ message, topic: fields?.['topic'] }) },
  })
  return { db, heard, failed }
}

const put = (tx: Connection, name: string, value = '1') =>
  tx.insertInto('settings').values({ name, value }).execute()

const bump = (tx: Connection, name: string) =>
  tx
    .updateTable('settings')
    .set({ value: sql<string>`value || '.'` })
    .where('name', '=', name)
    .execute()

const names = async (db: Reads) => {
  const rows = await db.selectFrom('settings').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`notices of units on ${dialect}`, () => {
    it('are published after the commit, and not before', async () => {
      await using opened = await open()
      const seen: Promise<string[]>[] = []
      const db = withNotices(opened.database, {
        publish: () => void seen.push(names(opened.database.read)),
        log: { error: assert.fail },
      })
      let during: number | undefined
      const written = await db.write(async (tx) => {
        tx.afterCommit(notice(1))
        await put(tx, 'a')
        during = seen.length
        return 'written'
      })
      assert.equal(written, 'written')
      assert.equal(during, 0)
      assert.equal(seen.length, 1)
      assert.deepEqual(await seen[0], ['a'])
    })

    it('are published in their order, and equal ones once', async () => {
      await using opened = await open()
      const { db, heard } = heardBy(opened.database)
      await db.write(async (tx) => {
        for (const n of [2, 1, 2, 3]) tx.afterCommit(notice(n))
        await put(tx, 'a')
      })
      assert.deepEqual(heard, [2, 1, 3].map(notice))
    })

    it('keep equal live words', async () => {
      await using opened = await open()
      const { db, heard } = heardBy(opened.database)
      const word = { ...notice(1), isLive: true }
      await db.write(async (tx) => {
        tx.afterCommit(word)
        tx.afterCommit(word)
      })
      assert.deepEqual(heard, [word, word])
    })

    it('are dropped with a unit that throws, and with no other of its batch', async () => {
      await using opened = await open()
      const { db, heard } = heardBy(opened.database)
      const unit = (n: number) => async (tx: Queries) => {
        await put(tx, `n${n}`)
        tx.afterCommit(notice(n))
        if (n === 2) throw new Error('not this one')
      }
      const results = await Promise.allSettled([1, 2, 3].map((n) => db.write(unit(n))))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(heard.map(({ message }) => String(message['n'])).toSorted(), ['1', '3'])
      assert.deepEqual(await names(db.read), ['n1', 'n3'])
    })

    it('are dropped with a commit that fails', async () => {
      await using opened = await open()
      const { db, heard } = heardBy({
        ...opened.database,
        async write(unit) {
          await opened.database.write(unit)
          throw new Error('the answer of the commit was lost')
        },
      })
      const written = db.write(async (tx) => tx.afterCommit(notice(1)))
      await assert.rejects(written, /was lost/)
      assert.deepEqual(heard, [])
    })

    it('come from units of one statement too', async () => {
      await using opened = await open()
      const { db, heard } = heardBy(opened.database)
      const statement = (n: number) => async (tx: Queries) => {
        tx.afterCommit(notice(n))
        await put(tx, `n${n}`)
        if (n === 2) throw new Error('not this one')
      }
      const results = await Promise.allSettled(
        [1, 2, 3].map((n) => db.writeStatement(statement(n))),
      )
      assert.equal(results[1]?.status, 'rejected')
      assert.deepEqual(heard.map(({ message }) => String(message['n'])).toSorted(), ['1', '3'])
    })

    it('are published although the one before could not be', async () => {
      await using opened = await open()
      const { db, heard, failed } = heardBy(opened.database)
      await db.write(async (tx) => {
        tx.afterCommit({ topic: 'deaf', message: {} })
        tx.afterCommit(notice(1))
        await put(tx, 'a')
      })
      assert.deepEqual(heard, [notice(1)])
      assert.deepEqual(failed, [{ message: 'a notice was not published', topic: 'deaf' }])
      assert.deepEqual(await names(db.read), ['a'])
    })

    it('are refused when their unit is over', async () => {
      await using opened = await open()
      const { db, heard } = heardBy(opened.database)
      const tx = await db.write(async (tx) => tx)
      assert.throws(() => tx.afterCommit(notice(1)), /outside of its unit/)
      assert.deepEqual(heard, [])
    })

    it('go through a database within another to the inner one alone that publishes', async () => {
      await using opened = await open()
      const { db: outer, heard } = heardBy(opened.database)
      const { db: inner, heard: late } = heardBy(outer)
      await inner.write(async (tx) => tx.afterCommit(notice(1)))
      await outer.write(async (tx) => tx.afterCommit(notice(2)))
      assert.deepEqual(late, [notice(1)])
      assert.deepEqual(heard, [notice(2)])
    })
  })
}

describe('notices of a unit that runs again', () => {
  it('are those of its last attempt', async () => {
    await using opened = await databases.postgres()
    const { db, heard } = heardBy(opened.database)
    await db.write(async (tx) => {
      await put(tx, 'a')
      await put(tx, 'b')
    })
    let attempts = 0
    const last: Record<string, number> = {}
    // Two units that lock two rows in opposite order: Postgres ends one of them, which runs again, and may meet the
    // other once more.
    const both = (own: string, other: string, isReady: Promise<void>, ready: () => void) =>
      db.write(async (tx) => {
        const attempt = (last[own] = ++attempts)
        tx.afterCommit({ topic: own, message: { attempt } })
        await bump(tx, own)
        ready()
        await isReady
        await bump(tx, other)
      })
    const [a, b] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await Promise.all([both('a', 'b', b.promise, a.resolve), both('b', 'a', a.promise, b.resolve)])
    assert.ok(attempts > 2, 'no unit ran again')
    const told = heard.map(({ topic, message }) => [topic, message['attempt']])
    assert.equal(told.length, 2)
    assert.deepEqual(Object.fromEntries(told), last)
  })
})
