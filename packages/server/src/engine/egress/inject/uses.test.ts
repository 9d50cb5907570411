import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Database } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import type { TestDatabase } from '../../../ground/database/fixture.ts'
import { shapesOf } from '../../../ground/database/shapes-fixture.ts'
import type { UseRows } from './records.ts'
import { useRows } from './uses.ts'

const tenant = 'wrkspc_uses'

const useOf = (id: string): Parameters<UseRows['begin']>[0] => ({
  tenant,
  session: 'sesn_1',
  caller: 'rpc-outbound',
  server: 'api.example',
  host: 'api.example',
  method: 'GET',
  id,
  vault: 'vlt_1',
  credential: 'vcrd_1',
  at: 1_000,
})

/** Counts insertions and holds them back until `release`. */
function held(database: Database) {
  const gate = Promise.withResolvers<void>()
  let insertions = 0
  const rows = useRows(
    oneDatabase({
      ...database,
      async writeStatement(statement) {
        insertions++
        await gate.promise
        return database.writeStatement(statement)
      },
    }),
  )
  return { rows, release: gate.resolve, insertions: () => insertions }
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename)))
  describe(`rows of uses on ${name}`, () => {
    let opened: TestDatabase
    before(async () => {
      opened = await open()
    })
    after(() => opened[Symbol.asyncDispose]())

    const stored = (among: readonly string[]) =>
      opened.database.read
        .selectFrom('credential_uses')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('id', 'in', among)
        .execute()

    it('are on disk when the use may be answered', async () => {
      await useRows(oneDatabase(opened.database)).begin(useOf('cuse_first'))
      assert.equal((await stored(['cuse_first'])).length, 1)
    })

    it('are written without anybody who waits for them', async () => {
      const rows = useRows(oneDatabase(opened.database))
      void rows.begin(useOf('cuse_alone'))
      await rows.written()
      assert.equal((await stored(['cuse_alone'])).length, 1)
    })

    it('share the next insertion where they begin during another', async () => {
      const { rows, release, insertions } = held(opened.database)
      const first = rows.begin(useOf('cuse_a'))
      await new Promise(setImmediate)
      release()
      const others = Array.from({ length: 40 }, (_, n) => rows.begin(useOf(`cuse_b${n}`)))
      await Promise.all([first, ...others])
      assert.ok(insertions() <= 2, `${insertions()} insertions`)
      const ids = Array.from({ length: 40 }, (_, n) => `cuse_b${n}`)
      assert.equal((await stored(['cuse_a', ...ids])).length, 41)
    })

    it('fail for each use of an insertion that fails, and for no later one', async () => {
      const rows = useRows(oneDatabase(opened.database))
      await rows.begin(useOf('cuse_twice'))
      const failing = [rows.begin(useOf('cuse_twice')), rows.begin(useOf('cuse_with_it'))]
      await Promise.all(failing.map((each) => assert.rejects(each, /unique/i)))
      await rows.begin(useOf('cuse_later'))
      assert.equal((await stored(['cuse_later', 'cuse_with_it'])).length, 1)
    })

    it('get the end of a call that failed before its row was written', async () => {
      const { rows, release } = held(opened.database)
      const began = rows.begin(useOf('cuse_failed'))
      const ended = rows.end(tenant, [{ id: 'cuse_failed', status: 502, refreshed: false, ms: 1 }])
      // By now a call that does not wait for the database would have ended.
      await opened.database.read.selectFrom('credential_uses').selectAll().execute()
      await opened.database.write(async () => {})
      release()
      await Promise.all([began, ended])
      const [row] = await stored(['cuse_failed'])
      assert.equal(row?.status, 502)
    })

    it('get their ends, however many end together', async () => {
      const rows = useRows(oneDatabase(opened.database))
      const ids = Array.from({ length: 75 }, (_, n) => `cuse_end${n}`)
      await Promise.all(ids.map((id) => rows.begin(useOf(id))))
      const ends = ids.map((id, n) => ({
        id,
        status: 200 + n,
        refreshed: n % 2 === 1,
        ms: n + 0.6,
      }))
      await rows.end(tenant, ends)
      const found = new Map((await stored(ids)).map((row) => [row.id, row]))
      for (const { id, status, refreshed, ms } of ends) {
        const row = found.get(id)
        assert.deepEqual(
          [row?.status, row?.refreshed, row?.ms],
          [status, refreshed ? 1 : 0, Math.round(ms)],
        )
      }
    })
  })
