import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from '../../database/fixture.ts'
import type { Database } from '../../database/database.ts'
import { pageBytes, readPage, rowWeight } from '../../database/listing.ts'
import { PlatformError } from '../errors.ts'
import { buildPage, readPaging } from './page.ts'

/** Inserts workspaces for a list. Several of them have the same time. */
async function fill(
  database: Database,
  many: number,
  nameOf: (n: number) => string = () => 'x',
): Promise<string[]> {
  const rows = Array.from({ length: many }, (_, n) => ({
    id: `w${String(n).padStart(2, '0')}`,
    name: nameOf(n),
    created_at: `2026-01-01T00:00:0${Math.floor(n / 3)}.000Z`,
  }))
  await database.write((tx) => tx.insertInto('workspaces').values(rows).execute())
  return rows.map(({ id }) => id)
}

async function list(database: Database, query: Parameters<typeof readPaging>[1]) {
  const asked = readPaging('workspaces', query)
  const rows = database.read.selectFrom('workspaces').select(['id', 'created_at'])
  const listing = await readPage('tenant', rows, asked, rowWeight('name'))
  return buildPage('workspaces', asked, listing, ({ id }) => id)
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

    it('ends a page early by the bytes of its rows, and is still walked whole both ways', async () => {
      await using opened = await open()
      const { database } = opened
      const share = (part: number) => 'é'.repeat(Math.floor((pageBytes * part) / 2))
      // Sizes in pages: two rows with a small one between, a third row, a row larger than a page, and small rows.
      const parts = [0.4, 0.4, 0, 0.4, 1.5, 0, 0, 0.9, 0.05]
      const ids = await fill(database, parts.length, (n) => share(parts[n] ?? 0))
      const pages = [ids.slice(0, 3), ids.slice(3, 4), ids.slice(4, 5), ids.slice(5)]
      const read = async (page?: string) => list(database, { order: 'asc', limit: 1000, page })
      const walked = []
      let page = await read()
      for (;;) {
        walked.push(page.data)
        assert.equal(page.has_more, page.next_page !== null)
        if (page.next_page === null) break
        page = await read(page.next_page)
      }
      assert.deepEqual(walked, pages)
      const back = [page.data]
      while (page.prev_page !== null) {
        page = await read(page.prev_page)
        assert.equal(page.has_more, true)
        back.unshift(page.data)
      }
      assert.deepEqual(back.flat(), ids)
      const two = await list(database, { order: 'asc', limit: 2 })
      assert.deepEqual([two.data, two.has_more], [ids.slice(0, 2), true])
      const last = await list(database, { order: 'desc', limit: 1, page: undefined })
      assert.deepEqual([last.data, last.has_more], [ids.slice(-1), true])
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

    it('keeps its position while rows come and go', async () => {
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
      () => readPaging('workspaces', { order: 'desc', page: next_page ?? '' }),
      (error) => error instanceof PlatformError && error.kind === 'invalid_request',
    )
    assert.throws(
      () => readPaging('agents', { order: 'asc', page: next_page ?? '' }),
      PlatformError,
    )
  })
})
