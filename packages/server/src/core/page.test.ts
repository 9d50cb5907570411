import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from '../database/fixture.ts'
import type { Database } from '../database/database.ts'
import { seek } from '../database/seek.ts'
import { PlatformError } from './errors.ts'
import type { Listed } from './page.ts'
import { pageOf, paging } from './page.ts'

/** Rows of which several share their time, as a list of workspaces. */
async function fill(database: Database, many: number): Promise<string[]> {
  const rows = Array.from({ length: many }, (_, n) => ({
    id: `w${String(n).padStart(2, '0')}`,
    name: 'x',
    created_at: `2026-01-01T00:00:0${Math.floor(n / 3)}.000Z`,
  }))
  await database.write((tx) => tx.insertInto('workspaces').values(rows).execute())
  return rows.map(({ id }) => id)
}

async function list(database: Database, query: Parameters<typeof paging>[1]) {
  const asked = paging('workspaces', query)
  const { begins, way } = seek(asked)
  const rows: Listed[] = await database.read
    .selectFrom('workspaces')
    .select(['id', 'created_at'])
    .where(begins)
    .orderBy('created_at', way)
    .orderBy('id', way)
    .limit(asked.limit + 1)
    .execute()
  return pageOf('workspaces', asked, rows, ({ id }) => id)
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`a list in pages on ${dialect}`, () => {
    it('is walked forwards and back again, in both orders, in pages of any size', async () => {
      await using opened = await open()
      const { database } = opened
      const ids = await fill(database, 10)
      for (const order of ['asc', 'desc'] as const) {
        const expected = order === 'asc' ? ids : ids.toReversed()
        for (const limit of [1, 3, 5, 10, 100]) {
          const forward = []
          let page = await list(database, { order, limit })
          assert.equal(page.prev_page, null)
          for (;;) {
            forward.push(page.data)
            assert.equal(page.has_more, page.next_page !== null)
            if (page.next_page === null) break
            page = await list(database, { order, limit, page: page.next_page })
          }
          assert.deepEqual(forward.flat(), expected)
          const back = [page.data]
          while (page.prev_page !== null) {
            page = await list(database, { order, limit, cursor: page.prev_page })
            back.unshift(page.data)
          }
          assert.deepEqual(back, forward)
        }
      }
    })

    it('is new and hundredfold by default, and empty without rows', async () => {
      await using opened = await open()
      const { database } = opened
      const empty = { has_more: false, next_page: null, prev_page: null }
      const none = { data: [], ...empty, first_id: null, last_id: null }
      assert.deepEqual(await list(database, {}), none)
      const ids = await fill(database, 5)
      const page = await list(database, {})
      assert.deepEqual(page.data, ids.toReversed())
      assert.deepEqual([page.first_id, page.last_id], ['w04', 'w00'])
    })

    it('keeps its place while rows come and go', async () => {
      await using opened = await open()
      const { database } = opened
      const ids = await fill(database, 6)
      const first = await list(database, { order: 'asc', limit: 3 })
      await database.write(async (tx) => {
        await tx
          .deleteFrom('workspaces')
          .where('id', '=', ids[2] ?? '')
          .execute()
        const row = { id: 'a', name: 'x', created_at: '2025-01-01T00:00:00.000Z' }
        await tx.insertInto('workspaces').values(row).execute()
      })
      const second = await list(database, { order: 'asc', limit: 3, page: first.next_page ?? '' })
      assert.deepEqual(second.data, ids.slice(3))
    })
  })
}

describe('a cursor of a list', () => {
  it('is refused in another order', async () => {
    await using opened = await databases.sqlite()
    await fill(opened.database, 3)
    const { next_page } = await list(opened.database, { order: 'asc', limit: 1 })
    assert.throws(
      () => paging('workspaces', { order: 'desc', page: next_page ?? '' }),
      (error) => error instanceof PlatformError && error.kind === 'invalid_request',
    )
    assert.throws(() => paging('agents', { order: 'asc', page: next_page ?? '' }), PlatformError)
  })
})
