import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseModelProviders } from '../../ground/config/model-providers.ts'
import { knownModels, listKnown } from './known-models.ts'

const none = { anthropic: undefined, openai: undefined, google: undefined }
const noPrices = new Map()
const operator = (keys: object) => ({ fallbackKeys: { ...none, ...keys }, modelProviders: [] })
const key = { apiKey: 'k', baseUrl: undefined }

describe('models that run without a card', () => {
  it('are the offline one, and those of the keys that the operator has', async () => {
    assert.deepEqual(await knownModels(operator({}), false, noPrices)(), [])
    const ids = async (keys: object, hasOffline: boolean) =>
      (await knownModels(operator(keys), hasOffline, noPrices)()).map(({ id }) => id)
    assert.deepEqual(await ids({}, true), ['offline'])
    const claude = await ids({ anthropic: key }, false)
    assert.ok(claude.length > 3 && claude.every((id) => id.startsWith('claude-')), claude.join())
    const both = await ids({ anthropic: key, google: key }, true)
    assert.ok(both.includes('offline') && both.some((id) => id.startsWith('gemini-')))
    assert.ok(!both.some((id) => id.startsWith('gpt-')))
  })

  it('are those that clouds of the operator serve', async () => {
    const models = ['claude-sonnet-*', 'gemini-2.5-pro']
    const text = JSON.stringify({ b: { type: 'vertex', region: 'global', project: 'p', models } })
    const modelProviders = parseModelProviders(text)
    const known = await knownModels({ ...operator({}), modelProviders }, false, noPrices)()
    const ids = known.map(({ id }) => id)
    assert.ok(ids.includes('claude-sonnet-4-5') && ids.includes('gemini-2.5-pro'), ids.join())
    assert.ok(!ids.some((id) => /opus|flash|gpt/.test(id)))
    assert.ok(known.every(({ price }) => price !== null))
  })

  it('have the price of the operator, else the one that is built in', async () => {
    const own = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 }
    const [first, second] = await knownModels(operator({ anthropic: key }), false, noPrices)()
    assert.ok(first?.price && first.price.output > first.price.input && second)
    const table = new Map([[first.id, own]])
    const [priced, other] = await knownModels(operator({ anthropic: key }), false, table)()
    assert.deepEqual([priced?.price, other?.price], [own, second.price])
    const [offline] = await knownModels(operator({}), true, noPrices)()
    assert.deepEqual(offline?.price, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
  })

  it('are read by page in either direction', () => {
    const known = ['a', 'b', 'c'].map((id) => ({
      ...{ id, created_at: '', display_name: id, native_config: {}, price: null },
    }))
    const page = (order: 'asc' | 'desc', side?: 'after' | 'before', id = '') => {
      const from = side && { side, created_at: '', id }
      const { rows, more } = listKnown(known, { limit: 2, order, ...(from ? { from } : {}) })
      return `${rows.map((each) => each.id).join('')} ${more}`
    }
    assert.deepEqual([page('asc'), page('desc')], ['ab true', 'cb true'])
    assert.equal(page('asc', 'after', 'b'), 'c false')
    assert.equal(page('desc', 'before', 'a'), 'bc false')
    assert.equal(page('asc', 'before', 'c'), 'ba false')
  })
})
