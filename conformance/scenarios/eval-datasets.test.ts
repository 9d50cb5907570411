import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

type SamplePage = { data: { id: string; input: string }[]; next_page: string | null }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`datasets of evals on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    verifies(
      'eval-datasets/samples',
      'samples are listed by pages in their order, all at the version of the first page',
      async () => {
        const samples = Array.from({ length: 5 }, (_, n) => ({ id: `s${n}`, input: 'one' }))
        const { body: dataset } = await service.ask('POST', '/v1/ext/eval_datasets', {
          name: 'pages',
          samples,
        })
        const path = `/v1/ext/eval_datasets/${dataset.id}`
        const pageOf = async (query: string) => {
          const answer = await service.ask<SamplePage>('GET', `${path}/samples?${query}`)
          assert.equal(answer.status, 200, JSON.stringify(answer.body))
          const { data, next_page } = answer.body
          return { data: data.map(({ id, input }) => `${id} ${input}`), next_page }
        }
        const first = await pageOf('limit=2')
        assert.deepEqual(first.data, ['s0 one', 's1 one'])
        const changed = [{ id: 's3', input: 'two' }]
        await service.ask('POST', path, { samples: changed, remove: ['s2'] })
        const second = await pageOf(`limit=2&page=${first.next_page}`)
        assert.deepEqual(second.data, ['s2 one', 's3 one'])
        const third = await pageOf(`limit=2&page=${second.next_page}`)
        assert.deepEqual(third, { data: ['s4 one'], next_page: null })
        const newest = await pageOf('')
        assert.deepEqual(newest.data, ['s0 one', 's1 one', 's3 two', 's4 one'])
        const of = await service.ask('GET', `${path}/samples?version=1&page=${first.next_page}`)
        assert.equal(of.status, 400, 'a cursor of another list')
      },
    )
  })
}
