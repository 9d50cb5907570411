import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resolveModel } from '@steward/model/catalog.ts'
import type { ModelTarget } from '@steward/model/catalog.ts'
import { findPrice } from './prices.ts'

const known = {
  provider: 'anthropic',
  model: 'm',
  native_config: { cost: { input: 3, output: 15 } },
}
const whole = (input: number, output: number) => ({
  ...{ input, output, cacheRead: input, cacheWrite: input },
})
const none = new Map()

describe('the price of a model', () => {
  it("is that of its card, else the operator's, else the built-in one", () => {
    const table = new Map([['m', whole(1, 2)]])
    assert.deepEqual(findPrice(known, { input: 5, output: 6 }, table), whole(5, 6))
    assert.deepEqual(findPrice(known, undefined, table), whole(1, 2))
    assert.deepEqual(findPrice(known, undefined, none), whole(3, 15))
  })

  it("may be named with the model's provider, and taken away", () => {
    const table = new Map([
      ['m', whole(1, 2)],
      ['anthropic/m', null],
    ])
    assert.equal(findPrice(known, undefined, table), null)
    assert.deepEqual(findPrice({ ...known, provider: 'other' }, undefined, table), whole(1, 2))
  })

  it('is not known for a built-in price of zero, nor for another speed', () => {
    const free = { ...known, native_config: { cost: { input: 0, output: 0 } } }
    assert.equal(findPrice(free, undefined, none), null)
    assert.deepEqual(findPrice(free, { input: 0, output: 0 }, none), whole(0, 0))
    assert.equal(findPrice({ ...known, speed: 'fast' }, undefined, none), null)
  })

  it('is built in for models of the catalog', async () => {
    const target = await resolveModel({ provider: 'anthropic', model: 'claude-sonnet-4-5' })
    const price = findPrice(target as ModelTarget, undefined, none)
    assert.ok(price && price.output > price.input && price.cacheRead < price.input)
  })
})
