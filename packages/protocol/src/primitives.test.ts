import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { DeploymentCreate } from './deployments.ts'
import { WordList, pageLimit } from './primitives.ts'
import { parsedBy } from './problems.ts'

describe('a value of a query', () => {
  it('has its words and its bounds in the description', () => {
    const query = z.object({ words: WordList(['a', 'b']).optional(), limit: pageLimit(1, 9) })
    const { properties } = z.toJSONSchema(query, { io: 'input', target: 'openapi-3.0' })
    const word = { type: 'string', enum: ['a', 'b'] }
    assert.deepEqual(properties, {
      words: { anyOf: [word, { type: 'array', items: word }] },
      limit: { type: 'integer', minimum: 1, maximum: 9 },
    })
  })

  it('is a list of known words in each spelling', () => {
    const words = WordList(['a', 'b'])
    for (const value of ['a,b', ['a', 'b'], ['a,b']])
      assert.deepEqual(parsedBy(words, value), { ok: true, value: ['a', 'b'] })
    assert.ok(!parsedBy(words, 'c').ok)
  })
})

describe('the first events of a deployment', () => {
  it('are refused once where there are none', () => {
    const parsed = parsedBy(DeploymentCreate.partial(), { initial_events: [] })
    assert.deepEqual(parsed, { ok: false, problems: 'initial_events: must not be empty' })
  })
})
