import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { heldJob, itDrivesItsWork } from '../evals/job-fixture.ts'
import { dreamJob } from './job.ts'
import { dreamStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const insert = (db: Database, tenant_id: string, count: number): Promise<void> =>
  db.write(async (tx) => {
    for (let n = 0; n < count; n++)
      await rows(tx, 'dreams').insert({
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
    itDrivesItsWork({ open, create: dreamJob, insert })

    it('cancels a dream that it drives', async () => {
      await using opened = await open()
      const { database } = opened
      const job = heldJob(database, dreamJob)
      await insert(database, 'any', 2)
      await job.run()
      await database.write(async (tx) => {
        const store = dreamStore(tx)
        await store.update(
          await rows(tx, 'dreams').getForUpdate('any', 'any_1'),
          { status: 'canceled' },
          0,
        )
      })
      await job.run()
      const canceled = [...job.held].map(([id, each]) => [id, each.canceled?.aborted])
      assert.deepEqual(Object.fromEntries(canceled), { any_0: false, any_1: true })
    })
  })
