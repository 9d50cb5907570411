import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { startJobs } from '../../ground/core/time/jobs.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { day, start, storeIn, tenant } from './fixture.ts'
import { memoryStoreStore } from './store.ts'
import { memoryJob, removeOldMemories } from './job.ts'
import { rows } from '../../ground/database/rows.ts'

async function rowsOf(database: Database) {
  const count = async (table: 'memory_stores' | 'memories' | 'memory_versions') =>
    (await database.read.selectFrom(table).select('id').execute()).length
  return [await count('memory_stores'), await count('memories'), await count('memory_versions')]
}

for (const [kind, open] of Object.entries(everyShape)) {
  describe(`the job of memory stores on ${kind}`, () => {
    it('removes versions after 30 days, but the newest ten of a memory never', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const { id } = await store.create(start, { path: '/a', content: '0' })
      for (let n = 1; n < 12; n++) await store.update(start + n * day, id, { content: `${n}` })
      const contents = async () => (await store.versions()).map(({ content }) => Number(content))
      await removeOldMemories(opened.database, start + 30 * day)
      assert.equal((await contents()).length, 12)
      await removeOldMemories(opened.database, start + 30 * day + 1)
      assert.deepEqual(await contents(), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
      await removeOldMemories(opened.database, start + 1000 * day)
      assert.deepEqual(await contents(), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
    })

    it('removes the versions of a deleted memory 30 days after its deletion', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const { id } = await store.create(start, { path: '/a', content: 'x' })
      await store.remove(start + 40 * day, id, undefined)
      await removeOldMemories(opened.database, start + 70 * day)
      assert.equal((await store.versions()).length, 2)
      await removeOldMemories(opened.database, start + 70 * day + 1)
      assert.equal((await store.versions()).length, 0)
    })

    it('takes a part at a time, and says whether there is more', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      for (let n = 0; n < 260; n++) {
        const { id } = await store.create(start, { path: `/${n}`, content: '' })
        await store.remove(start, id, undefined)
      }
      assert.equal(await removeOldMemories(opened.database, start + 31 * day), false)
      assert.equal(await removeOldMemories(opened.database, start + 31 * day), false)
      assert.equal(await removeOldMemories(opened.database, start + 31 * day), true)
      assert.deepEqual(await rowsOf(opened.database), [1, 0, 0])
    })

    it('finishes the removal of a store that a crash cut off, and touches no other', async () => {
      await using opened = await open()
      const { database } = opened
      const store = await storeIn(database)
      const other = await storeIn(database)
      for (let n = 0; n < 300; n++) await store.create(start, { path: `/${n}`, content: '' })
      await other.create(start, { path: '/a', content: '' })
      await database.write(async (tx) => {
        const kept = await rows(tx, 'memory_stores').get(tenant, store.id)
        await memoryStoreStore(tx).update(kept, { deleted_at: iso(start) }, start)
      })
      await assert.rejects(store.row(), /does not exist/)
      await removeOldMemories(database, start)
      assert.deepEqual(await rowsOf(database), [1, 1, 1])
    })

    it('goes on after a failure, and rests between runs until it is stopped', async () => {
      await using opened = await open()
      const logged: string[] = []
      const rests: number[] = []
      const second = Promise.withResolvers<void>()
      const clock: Clock = {
        now: () => (rests.length === 0 ? Number.NaN : start),
        sleep: (ms, signal) => {
          rests.push(ms)
          if (rests.length === 1) return Promise.resolve()
          second.resolve()
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
        },
      }
      const log = jsonLog((line) => logged.push(line), 'error')
      const job = memoryJob(testGround(opened.database, { clock }))
      const jobs = startJobs([job], { clock, log })
      await second.promise
      await jobs.stop()
      assert.deepEqual(rests, [600_000, 600_000])
      assert.equal(logged.length, 1)
      assert.match(String(logged), /a job failed.*remove old memories/)
    })
  })
}
