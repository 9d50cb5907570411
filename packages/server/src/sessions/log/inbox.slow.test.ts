import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { insertHead, tenant } from './fixture.ts'
import { readHead } from './head.ts'
import type { WaitingEvent } from './inbox.ts'
import { toAdmission, admitEvents, takeWaiting, readWaiting, waitsBehind } from './inbox.ts'
import { buildCancellation, interruptsFor, lastInterrupt } from './inbox-end.ts'

const message = (text: string): WaitingEvent => ({
  id: newId('event'),
  type: 'user.message',
  content: [{ type: 'text', text }],
})
const interrupt = (): WaitingEvent => ({ id: newId('event'), type: 'user.interrupt' })

const admitting = (
  database: Database,
  session: string,
  events: WaitingEvent[],
  due = true,
  now = 0,
) =>
  database.write((tx) =>
    admitEvents(
      tx,
      tenant,
      session,
      events.map((event) => toAdmission(event)),
      { now, due },
    ),
  )

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`an inbox on ${dialect}`, () => {
    it('keeps what was accepted in its order, whoever posts at the same time', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const posts = Array.from({ length: 20 }, (_, n) => [message(`${n}/a`), message(`${n}/b`)])
      await Promise.all(posts.map((post) => admitting(database, session, post)))
      const queue = await readWaiting(database.read, tenant, session)
      assert.deepEqual(
        queue.map(({ position }) => position),
        Array.from({ length: 40 }, (_, index) => index + 1),
      )
      const ids = queue.map(({ id }) => id)
      for (const [a, b] of posts)
        assert.equal(ids.indexOf(a?.id ?? ''), ids.indexOf(b?.id ?? '') - 1)
    })

    it('gives back what was posted, with the time it was accepted', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const post = message('hello')
      await admitting(database, session, [post], true, Date.UTC(2026, 0, 1))
      await admitting(database, session, [interrupt()], true, Date.UTC(2026, 0, 2))
      const taken = await database.write((tx) => takeWaiting(tx, tenant, session, 2))
      const { id, type, ...fields } = post
      assert.deepEqual(taken[0], {
        ...{ id, type, created_at: '2026-01-01T00:00:00.000Z', data: JSON.stringify(fields) },
      })
      assert.deepEqual([taken[1]?.type, taken[1]?.data], ['user.interrupt', '{}'])
    })

    it('gives back what an earlier version wrote with its id behind its fields', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const { id, ...fields } = message('hello')
      await admitting(database, session, [{ id, ...fields }])
      await database.write((tx) =>
        tx
          .updateTable('inbox')
          .set({ event: JSON.stringify({ ...fields, id }) })
          .where('session_id', '=', session)
          .execute(),
      )
      const [taken] = await database.write((tx) => takeWaiting(tx, tenant, session, 1))
      assert.equal(taken?.data, '{"content":[{"type":"text","text":"hello"}]}')
    })

    it('has room for so many bytes, and for so many messages', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const post = (length: number, count: number) =>
        database.write((tx) =>
          admitEvents(
            tx,
            tenant,
            session,
            Array.from({ length: count }, () => ({
              ...{ id: newId('event'), type: 'user.message' },
              data: `{"content":"${'x'.repeat(length)}"}`,
            })),
            { now: 0, due: true },
          ),
        )
      const full = (error: unknown) =>
        error instanceof PlatformError && error.kind === 'rate_limited'
      await post(33 * 1024 * 1024, 1)
      await assert.rejects(post(33 * 1024 * 1024, 1), full)
      await post(1, 1_000)
      assert.equal((await readWaiting(database.read, tenant, session)).length, 1_001)
      for (let posted = 1; posted < 9; posted++) await post(1, 1_000)
      await assert.rejects(post(1, 1_000), full)
      await database.write((tx) => takeWaiting(tx, tenant, session, 1_000))
      await post(1, 1_000)
    })

    it('makes its session due only when that is said', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const due = async () => (await readHead(database.read, tenant, session)).due
      await admitting(database, session, [message('x')], false)
      assert.equal(await due(), 0)
      await admitting(database, session, [message('y')], true)
      assert.equal(await due(), 1)
      await admitting(database, session, [message('z')], false)
      assert.equal(await due(), 1)
    })

    it('is emptied up to a position, and never gives a position twice', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await admitting(database, session, [message('1'), message('2'), message('3')])
      await database.write((tx) => takeWaiting(tx, tenant, session, 2))
      assert.ok(await waitsBehind(database.read, tenant, session, 2))
      assert.ok(!(await waitsBehind(database.read, tenant, session, 3)))
      await database.write((tx) => takeWaiting(tx, tenant, session, 3))
      await admitting(database, session, [message('4')])
      const [only] = await readWaiting(database.read, tenant, session)
      assert.equal(only?.position, 4)
    })

    it('knows its newest interrupt, and which sessions have one', async () => {
      await using opened = await open()
      const { database } = opened
      const [one, two, none] = [
        await insertHead(database),
        await insertHead(database),
        await insertHead(database),
      ]
      await admitting(database, one, [message('a'), interrupt(), message('b'), interrupt()])
      await admitting(database, two, [interrupt()])
      await admitting(database, none, [message('c')])
      assert.equal(await lastInterrupt(database.read, tenant, one), 4)
      assert.equal(await lastInterrupt(database.read, tenant, none), undefined)
      assert.equal(await lastInterrupt(database.read, 'wrkspc_other', one), undefined)
      const found = await interruptsFor(database.read, [one, none])
      assert.deepEqual(found, [{ session: one, thread: undefined }])
    })

    it('is one session of one tenant', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await insertHead(database), await insertHead(database)]
      await admitting(database, session, [message('mine')])
      assert.deepEqual(await readWaiting(database.read, tenant, other), [])
      assert.deepEqual(await readWaiting(database.read, 'wrkspc_other', session), [])
      await database.write((tx) => takeWaiting(tx, 'wrkspc_other', session, 99))
      const [kept] = await readWaiting(database.read, tenant, session)
      assert.ok(kept)
      const gone = buildCancellation(kept, 'sevt_c', 'interrupt')
      assert.deepEqual(gone, {
        id: 'sevt_c',
        type: 'system.user_message_cancelled',
        message_id: kept.id,
        reason: 'interrupt',
      })
    })
  })
}
