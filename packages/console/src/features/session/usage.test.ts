import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Session } from '../../lib/api/types.ts'
import { chargesOf, isSumOf } from './usage.ts'

const usage = {
  ...{ input_tokens: 1_000_000, output_tokens: 100_000, cache_read_input_tokens: 500_000 },
  cache_creation: { ephemeral_5m_input_tokens: 150_000, ephemeral_1h_input_tokens: 50_000 },
} as Session['usage']

void describe('the cost of the tokens of a session', () => {
  void it('is the tokens of each kind times the price of a million, and their sum', () => {
    const price = { input: 3, output: 15, cache_read: 0.5, cache_write: 4 }
    const { charges, sum } = chargesOf(usage, price)
    assert.deepEqual(
      charges.map(({ kind, tokens, dollars }) => [kind, tokens, dollars]),
      [
        ['input', 1_000_000, 3],
        ['cacheRead', 500_000, 0.25],
        ['cacheWritten', 200_000, 0.8],
        ['output', 100_000, 1.5],
      ],
    )
    assert.equal(sum, 5.55)
  })

  void it('is not known without a price', () => {
    const { charges, sum } = chargesOf(usage, undefined)
    assert.equal(sum, undefined)
    assert.ok(charges.every(({ tokens, dollars }) => tokens > 0 && dollars === undefined))
  })

  void it('is the whole cost where it differs by no more than the rounding to a cent', () => {
    assert.ok(isSumOf(0.0049, 0))
    assert.ok(isSumOf(1.205, 1.2))
    assert.ok(!isSumOf(1.206, 1.2))
    assert.ok(!isSumOf(0, undefined))
  })
})
