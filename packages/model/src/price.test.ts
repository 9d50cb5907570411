import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage } from './model.ts'
import { computeCost, mostCost, wholePrice } from './price.ts'

const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const input = (input_tokens: number) => ({ ...noUsage, input_tokens })

/** The same sequence in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; state = (state * 48_271) % 2_147_483_647) yield state
}

describe('the cost of a request', () => {
  it('is counted in millionths of a dollar', () => {
    const usage = {
      ...{ input_tokens: 1_000, output_tokens: 200 },
      ...{ cache_read_input_tokens: 10_000, cache_creation_input_tokens: 400 },
    }
    assert.equal(computeCost(usage, price), 3_000 + 3_000 + 3_000 + 1_500)
    assert.equal(computeCost(noUsage, price), 0)
  })

  it('is rounded half up, once', () => {
    const half = { input: 0.5, output: 0.25, cacheRead: 0.25, cacheWrite: 0 }
    assert.equal(computeCost(input(1), half), 1)
    assert.equal(computeCost(input(3), half), 2)
    assert.equal(computeCost({ ...input(0), output_tokens: 1 }, half), 0)
    const both = { ...noUsage, output_tokens: 1, cache_read_input_tokens: 1 }
    assert.equal(computeCost(both, half), 1)
  })

  it('is exact for large requests', () => {
    assert.equal(computeCost(input(1_000_000_000), { ...price, input: 0.000_001 }), 1_000)
    assert.equal(computeCost(input(9_007_199_254), { ...price, input: 1_000 }), 9_007_199_254_000)
  })

  it('is no more than sums of costs stay exact with, whatever an endpoint and a card say', () => {
    const all = { input_tokens: 1e8, output_tokens: 1e8 }
    const usage = { ...all, cache_read_input_tokens: 1e8, cache_creation_input_tokens: 1e8 }
    const dearest = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 }
    assert.equal(computeCost(usage, dearest), mostCost)
    assert.ok(Number.isSafeInteger(mostCost * 900))
  })

  it('is within half a unit of what it is, for any tokens and prices', () => {
    const next = numbers(20_260_322)
    for (let n = 0; n < 2_000; n++) {
      const [tokens, micro] = [next.next().value % 1_000_000, next.next().value % 100_000_000]
      const exact = BigInt(tokens) * BigInt(micro)
      const cost = BigInt(computeCost(input(tokens), { ...price, input: micro / 1_000_000 }))
      const over = cost * 1_000_000n - exact
      assert.ok(over > -500_000n && over <= 500_000n, `${tokens} tokens at ${micro}`)
    }
  })
})

describe('a price', () => {
  it('counts what it does not say of the cache as input', () => {
    assert.deepEqual(wholePrice({ input: 2, output: 4 }), {
      ...{ input: 2, output: 4, cacheRead: 2, cacheWrite: 2 },
    })
  })

  it('is none without input and output', () => {
    assert.equal(wholePrice({ input: 2 }), undefined)
    assert.equal(wholePrice(undefined), undefined)
  })
})
