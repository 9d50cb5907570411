import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { knownModels, listKnown } from './known-models.ts'

const none = { anthropic: undefined, openai: undefined, google: undefined }
const key = { apiKey: 'k', baseUrl: undefined }

describe('models that run without a card', () => {
  it('are the offline one, and those of the keys that the operator has', async () => {
    assert.deepEqual(await knownModels(none, false)(), [])
    const ids = async (keys: object, hasOffline: boolean) =>
      (await knownModels({ ...none, ...keys }, hasOffline)()).map(({ id }) => id)
    assert.deepEqual(await ids({}, true), ['offline'])
    const claude = await ids({ anthropic: key }, false)
    assert.ok(claude.length > 3 && claude.every((id) => id.startsWith('claude-')), claude.join())
    const both = await ids({ anthropic: key, google: key }, true)
    assert.ok(both.includes('offline') && both.some((id) => id.startsWith('gemini-')))
    assert.ok(!both.some((id) => id.startsWith('gpt-')))
  })

  it('are read by page in either direction', () => {
    const known = ['a', 'b', 'c'].map((id) => ({
      ...{ id, created_at: '', display_name: id, native_config: {} },
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
