import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import type { NamedSample } from '../store.ts'
import { datasetStore } from './store.ts'
import { rows } from '../../../ground/database/rows.ts'

const samples = (count: number, input: string, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `s${from + index}`, sample: { input } }))

/** A dataset that has no samples yet. */
async function newDataset(database: Database) {
  const row = { tenant_id: 't', id: 'd', version: 0 }
  const texts = {
    name: 'd',
    description: null,
    metadata: {},
    created_at: iso(0),
    updated_at: iso(0),
  }
  await database.write((tx) => datasetStore(tx).insert({ ...row, ...texts }))
  return (put: readonly NamedSample[], remove: readonly string[] = []) =>
    database.write(async (tx) => {
      const store = datasetStore(tx)
      const taken = await rows(tx, 'eval_datasets').getForUpdate('t', 'd')
      const version = await store.change(taken, { put, remove })
      await store.update(taken, { version }, 0)
      return version
    })
}

for (const [name, open] of Object.entries(databases))
  describe(`a dataset on ${name}`, () => {
    it('that is full accepts other samples that replace its own', async () => {
      await using testDatabase = await open()
      const change = await newDataset(testDatabase.database)
      assert.equal(await change(samples(10_000, 'one')), 1)
      assert.equal(await change(samples(2, 'two')), 2)
      await assert.rejects(change(samples(1, 'three', 10_000)), /has 10000 samples at most/)
    })

    // verifies: eval-datasets/bounds
    it('has 64 MiB of samples at most', async () => {
      await using testDatabase = await open()
      const change = await newDataset(testDatabase.database)
      const mebibyte = 'é'.repeat(512 * 1024 - 100)
      await change(samples(60, mebibyte))
      await assert.rejects(
        change(samples(5, mebibyte, 60)),
        /samples: a dataset has 67108864 bytes/,
      )
      assert.equal(await change(samples(5, mebibyte)), 1, 'equal samples change nothing')
      assert.equal(await change(samples(5, mebibyte, 60), ['s0', 's1']), 2)
    })

    it('is read by pages, of which none has more than 4 MiB', async () => {
      await using testDatabase = await open()
      const change = await newDataset(testDatabase.database)
      await change(samples(9, 'a'.repeat(1024 * 1024)))
      const store = datasetStore(testDatabase.database.read)
      const pages: string[][] = []
      let after: number | undefined
      for (let more = true; more;) {
        const page = await store.samples('t', 'd', { limit: 100, after })
        pages.push(page.rows.map(({ id }) => id))
        after = page.rows.at(-1)?.position
        more = page.more
      }
      assert.deepEqual(pages, [
        ['s0', 's1', 's2'],
        ['s3', 's4', 's5'],
        ['s6', 's7', 's8'],
      ])
    })
  })
