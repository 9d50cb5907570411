import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { heldJob } from '../evals/job-fixture.ts'
import { dreamJob } from './job.ts'
import { dreamStore } from './store.ts'

const insert = (db: Database, tenant_id: string, count: number): Promise<void> =>
  db.write(async (tx) => {
    for (let n = 0; n < count; n++)
      await dreamStore(tx).insert({
        tenant_id,
        id: `${tenant_id}_${n}`,
        status: 'pending',
        memory_store_id: 'memstore_1',
        session_ids: [],
        model: { id: 'offline', speed: 'standard' },
        instructions: null,
        output_behavior: 'create_new',
        output_store_id: null,
        held_store_id: null,
        copied_path: null,
        actor: { type: 'api_actor', api_key_id: 'key_1' },
        session_id: null,
        error: null,
        usage: null,
        stopped: 0,
        started_at: null,
        archived_at: null,
        created_at: iso(0),
        updated_at: iso(0),
        ended_at: null,
      })
  })

for (const [name, open] of Object.entries(databases))
  describe(`the job of dreams on ${name}`, () => {
    it('drives the dream of another tenant, however many of one tenant hang', async () => {
      await using opened = await open()
      const job = heldJob(opened.database, dreamJob)
      await insert(opened.database, 'greedy', 60)
      await insert(opened.database, 'other', 1)
      await job.run()
      assert.equal(job.of('other'), 1)
      assert.ok(job.of('greedy') > 20 && job.of('greedy') < 50, `${job.of('greedy')}`)
    })

    it('looks again when a place becomes free, and not at once for a dream that failed', async () => {
      await using opened = await open()
      const { database } = opened
      const job = heldJob(database, dreamJob)
      await insert(database, 'greedy', 60)
      await job.run()
      const most = job.of('greedy')
      await job.end('greedy_0', ({ reject }) => reject(new Error('away')))
      assert.equal(job.looks(), 1)
      await job.run()
      assert.equal(job.of('greedy'), most)
      assert.ok(!job.held.has('greedy_0'))
      await job.clock.pass(10_000)
      assert.equal(job.looks(), 2, 'its rest is over')
      await job.end('greedy_1', ({ resolve }) => resolve())
      assert.equal(job.looks(), 3)
      await job.run()
      assert.equal(job.of('greedy'), most)
    })

    it('cancels a dream that it drives', async () => {
      await using opened = await open()
      const { database } = opened
      const job = heldJob(database, dreamJob)
      await insert(database, 'any', 2)
      await job.run()
      await database.write(async (tx) => {
        const store = dreamStore(tx)
        await store.update(await store.take('any', 'any_1'), { status: 'canceled' }, 0)
      })
      await job.run()
      const canceled = [...job.held].map(([id, each]) => [id, each.canceled?.aborted])
      assert.deepEqual(Object.fromEntries(canceled), { any_0: false, any_1: true })
    })
  })
