import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { EvalCreate } from '@steward/protocol/evals.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { datasetStore } from './datasets/store.ts'
import { loadRunSamples } from './run-samples.ts'
import { evalStore } from './store.ts'
import { toEvalCreate } from './tasks.ts'

const tenant = 'wrkspc_a'

/** A dataset of 10 samples of 1 MiB, of which version 1 has the first nine. */
async function newDataset(database: Database): Promise<string> {
  const row = { tenant_id: tenant, id: 'evds_1', name: 'd', description: null, metadata: {} }
  const times = { created_at: iso(0), updated_at: iso(0) }
  const input = 'a'.repeat(1024 * 1024)
  await database.write(async (tx) => {
    const store = datasetStore(tx)
    const put = Array.from({ length: 9 }, (_, n) => ({ id: `s${n}`, sample: { input } }))
    const version = await store.change({ ...row, version: 0 }, { put, remove: [] })
    const later = [{ id: 's9', sample: { input } }]
    const next = await store.change({ ...row, version }, { put: later, remove: ['s0'] })
    await store.insert({ ...row, version: next, ...times })
  })
  return row.id
}

const bodyOf = (dataset: string) =>
  toEvalCreate(
    EvalCreate.parse({
      agent: 'agent_1',
      dataset: { id: dataset, version: 1 },
      graders: [{ name: 'g', type: 'text', op: 'includes', value: 'a' }],
    }),
  )

for (const [name, open] of Object.entries(databases))
  describe(`the samples of a run of a dataset on ${name}`, () => {
    it('are those of its version, and none of them is held in memory', async () => {
      await using opened = await open()
      const { database } = opened
      const body = bodyOf(await newDataset(database))
      const samples = await loadRunSamples(database.read, tenant, body)
      assert.ok(JSON.stringify(samples).length < 1_000)
      await database.write((tx) => samples.insert(tx, 'evrun_1'))
      const store = evalStore(database.read)
      const { samples: kept } = await store.compared(tenant, 'evrun_1')
      assert.deepEqual(
        kept.map(({ id }) => id),
        Array.from({ length: 9 }, (_, n) => `s${n}`),
      )
      const first = await store.sample(tenant, 'evrun_1', 's0')
      assert.equal(JSON.stringify(first).length, 1024 * 1024 + 12)
    })

    it('are refused where the dataset is deleted before the run is stored', async () => {
      await using opened = await open()
      const { database } = opened
      const dataset = await newDataset(database)
      const samples = await loadRunSamples(database.read, tenant, bodyOf(dataset))
      await database.write((tx) => datasetStore(tx).remove(tenant, dataset))
      await assert.rejects(
        database.write((tx) => samples.insert(tx, 'evrun_1')),
        (error) => error instanceof PlatformError && error.kind === 'not_found',
      )
    })
  })
