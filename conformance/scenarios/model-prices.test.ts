import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`prices of models on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    verifies(
      'models/list-price',
      'a model says what a million of its tokens costs, by its card or else by what is known of it',
      async () => {
        const make = async (model_id: string, model: string, more: object = {}) => {
          const made = await service.ask('POST', '/v1/ext/model_cards', {
            ...{ model_id, model, provider: 'openrouter', api_key: 'sk-one-key-0123456789' },
            ...more,
          })
          assert.equal(made.status, 200, JSON.stringify(made.body))
        }
        const cost = { input: 2, output: 8, cacheRead: 0.5 }
        await make('own', 'unheard-of', { native_config: { cost } })
        await make('known', 'anthropic/claude-sonnet-4.5')
        await make('unknown', 'unheard-of')
        const { body } = await service.ask('GET', '/v1/models')
        const prices = new Map(body.data.map(({ id, list_price }) => [id, list_price]))
        const price = { input: 2, output: 8, cache_read: 0.5, cache_write: 2 }
        assert.deepEqual(prices.get('own'), price)
        const known = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
        assert.deepEqual(prices.get('known'), known)
        assert.equal(prices.get('unknown'), null)
        const free = { input: 0, output: 0, cache_read: 0, cache_write: 0 }
        assert.deepEqual(prices.get('offline'), free, 'it asks nobody')
        const one = await service.ask('GET', '/v1/models/own')
        assert.deepEqual(one.body['list_price'], price)
      },
    )
  })
}
