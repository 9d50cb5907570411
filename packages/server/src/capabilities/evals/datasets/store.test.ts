import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from '../../../ground/database/fixture.ts'
import { datasetStore } from './store.ts'

const samples = (count: number, input: string, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `s${from + index}`, sample: { input } }))

describe('a dataset', () => {
  it('that is full takes other samples in the place of those that it has', async () => {
    await using place = await databases.sqlite()
    const change = (version: number, ...given: [count: number, input: string, from?: number]) =>
      place.database.write((tx) =>
        datasetStore(tx).change(
          { tenant_id: 't', id: 'd', version },
          { put: samples(...given), remove: [] },
        ),
      )
    assert.equal(await change(0, 10_000, 'one'), 1)
    assert.equal(await change(1, 2, 'two'), 2)
    await assert.rejects(change(2, 1, 'three', 10_000), /has 10000 samples at most/)
  })
})
