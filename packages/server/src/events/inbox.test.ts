import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../core/ids.ts'
import type { Database } from '../database/database.ts'
import { databases } from '../database/fixture.ts'
import { newHead, tenant } from './fixture.ts'
import { readHead } from './head.ts'
import type { Waiting } from './inbox.ts'
import {
  admit,
  cancelled,
  interruptsFor,
  lastInterrupt,
  take,
  waiting,
  waitsBehind,
} from './inbox.ts'

const message = (text: string): Waiting => ({
  id: newId('event'),
  type: 'user.message',
  content: [{ type: 'text', text }],
})
const interrupt = (): Waiting => ({ id: newId('event'), type: 'user.interrupt' })

const admitting = (database: Database, session: string, events: Waiting[], due = true, now = 0) =>
  database.write((tx) => admit(tx, tenant, session, events, { now, due }))

for (const [dialect, open] of Object.entries(databases)) {
  describe(`an inbox on ${dialect}`, () => {
    it('keeps what was accepted in its order, whoever posts at the same time', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newHead(database)
      const posts = Array.from({ length: 20 }, (_, n) => [message(`${n}/a`), message(`${n}/b`)])
      await Promise.all(posts.map((post) => admitting(database, session, post)))
      const queue = await waiting(database.read, tenant, session)
      assert.deepEqual(
        queue.map(({ position }) => position),
        Array.from({ length: 40 }, (_, index) => index + 1),
      )
      const ids = queue.map(({ event }) => event.id)
      for (const [a, b] of posts)
        assert.equal(ids.indexOf(a?.id ?? ''), ids.indexOf(b?.id ?? '') - 1)
    })

    it('gives back what was posted, with the time it was accepted', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newHead(database)
      const post = message('hello')
      await admitting(database, session, [post], true, Date.UTC(2026, 0, 1))
      assert.deepEqual(await waiting(database.read, tenant, session), [
        { position: 1, created_at: '2026-01-01T00:00:00.000Z', event: post },
      ])
    })

    it('makes its session due only when that is said', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newHead(database)
      const due = async () => (await readHead(database.read, tenant, session)).due
      await admitting(database, session, [message('x')], false)
      assert.equal(await due(), 0)
      await admitting(database, session, [message('y')], true)
      assert.equal(await due(), 1)
      await admitting(database, session, [message('z')], false)
      assert.equal(await due(), 1)
    })

    it('is emptied up to a place, and never gives a place twice', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newHead(database)
      await admitting(database, session, [message('1'), message('2'), message('3')])
      await database.write((tx) => take(tx, tenant, session, 2))
      assert.ok(await waitsBehind(database.read, tenant, session, 2))
      assert.ok(!(await waitsBehind(database.read, tenant, session, 3)))
      await database.write((tx) => take(tx, tenant, session, 3))
      await admitting(database, session, [message('4')])
      const [only] = await waiting(database.read, tenant, session)
      assert.equal(only?.position, 4)
    })

    it('knows its newest interrupt, and which sessions have one', async () => {
      await using opened = await open()
      const { database } = opened
      const [one, two, none] = [
        await newHead(database),
        await newHead(database),
        await newHead(database),
      ]
      await admitting(database, one, [message('a'), interrupt(), message('b'), interrupt()])
      await admitting(database, two, [interrupt()])
      await admitting(database, none, [message('c')])
      assert.equal(await lastInterrupt(database.read, tenant, one), 4)
      assert.equal(await lastInterrupt(database.read, tenant, none), undefined)
      assert.equal(await lastInterrupt(database.read, 'wrkspc_other', one), undefined)
      const found = await interruptsFor(database.read, [one, none])
      assert.deepEqual(found, [one])
    })

    it('is one session of one tenant', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await newHead(database), await newHead(database)]
      await admitting(database, session, [message('mine')])
      assert.deepEqual(await waiting(database.read, tenant, other), [])
      assert.deepEqual(await waiting(database.read, 'wrkspc_other', session), [])
      await database.write((tx) => take(tx, 'wrkspc_other', session, 99))
      const [kept] = await waiting(database.read, tenant, session)
      assert.ok(kept)
      const gone = cancelled(kept, 'sevt_c', 'interrupt')
      assert.deepEqual(gone, {
        id: 'sevt_c',
        type: 'system.user_message_cancelled',
        message_id: kept.event.id,
        reason: 'interrupt',
      })
    })
  })
}
