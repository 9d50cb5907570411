import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import { insertHead, tenant } from '../../sessions/log/fixture.ts'
import { everyShape } from './shapes-fixture.ts'
import type { SlotFor } from './statement.ts'
import { statementByForm, insertRows, selectStatement, statement } from './statement.ts'

const headOf = selectStatement((db, slot: SlotFor<{ session: string; atLeast: number }>) =>
  db
    .selectFrom('session_heads')
    .select(['session_id', 'next_seq'])
    .where(
      'session_id',
      '=',
      slot(({ session }) => session),
    )
    .where(
      'next_seq',
      '>=',
      slot(({ atLeast }) => atLeast + 1),
    )
    .where('tenant_id', '=', tenant),
)

const waits = (session: string, position: number, event = '{}') => ({
  tenant_id: tenant,
  session_id: session,
  position,
  id: `sevt_${position}`,
  type: 'user.message',
  event,
  bytes_before: 0,
  thread_id: null,
  created_at: iso(0),
  steers: null,
})

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a statement that is built once on ${dialect}`, () => {
    it('takes the values of each call, also computed ones, and keeps its own', async () => {
      await using opened = await open()
      const { read } = opened.database
      const [one, two] = [await insertHead(opened.database), await insertHead(opened.database)]
      for (const session of [one, two, one]) {
        const rows = await headOf(read, { session, atLeast: -1 })
        assert.deepEqual(
          rows.map((row) => row.session_id),
          [session],
        )
      }
      assert.deepEqual(await headOf(read, { session: one, atLeast: 1_000 }), [])
    })

    it('is another one in another database, and sees what its own transaction wrote', async () => {
      await using first = await open()
      await using second = await open()
      const session = await insertHead(first.database)
      assert.deepEqual(await headOf(second.database.read, { session, atLeast: -1 }), [])
      const rename = statement((tx, slot: SlotFor<{ to: number }>) =>
        tx
          .updateTable('session_heads')
          .set({ next_seq: slot(({ to }) => to) })
          .returning('next_seq'),
      )
      await first.database.write(async (tx) => {
        assert.equal((await rename(tx, { to: 7 }))[0]?.next_seq, 7)
        assert.equal((await headOf(tx, { session, atLeast: 6 })).length, 1)
      })
      assert.equal((await headOf(first.database.read, { session, atLeast: 6 })).length, 1)
    })

    it('fails as any other does, and fails its unit with it', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const twice = database.write(async (tx) => {
        await insertRows(tx, 'inbox', [waits(session, 1)])
        await insertRows(tx, 'inbox', [waits(session, 1)])
      })
      await assert.rejects(twice, /unique|duplicate/i)
      assert.deepEqual(await database.read.selectFrom('inbox').selectAll().execute(), [])
    })

    it('inserts any number of rows, in their order', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      let last = 0
      for (const count of [1, 3, 16, 17, 1_100]) {
        const rows = Array.from({ length: count }, (_, n) =>
          waits(session, last + n + 1, `{"n":${n}}`),
        )
        await database.write((tx) => insertRows(tx, 'inbox', rows))
        const kept = await database.read
          .selectFrom('inbox')
          .selectAll()
          .where('position', '>', last)
          .orderBy('position')
          .execute()
        assert.deepEqual(
          kept.map((row) => ({ ...row })),
          rows,
        )
        last += count
      }
    })

    it('has forms, each built when it is first needed', async () => {
      await using opened = await open()
      const built: number[] = []
      const sum = statementByForm((count: number) =>
        statement((db, slot: SlotFor<number[]>) => {
          built.push(count)
          const all = Array.from({ length: count }, (_, n) => slot((values) => values[n] ?? 0))
          return sql<{ sum: number }>`select ${sql.join(
            all.map((each) => sql`cast(${each} as integer)`),
            sql` + `,
          )} as sum`.compile(db)
        }),
      )
      for (const values of [[1], [2, 3], [4], [5, 6]]) {
        const [row] = await opened.database.writeStatement((db) => sum(values.length)(db, values))
        assert.equal(
          row?.sum,
          values.reduce((total, value) => total + value, 0),
        )
      }
      assert.deepEqual(built, [1, 2])
    })
  })
}
