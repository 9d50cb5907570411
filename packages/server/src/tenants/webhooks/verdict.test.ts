import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { backoffMs, mostAttempts, judgeDelivery } from './verdict.ts'

const chances = [0, 0.25, 0.5, 0.999_999]

describe('the verdict on a delivery', () => {
  // verifies: webhooks/backoff, limits/webhook-attempts
  it('the pauses grow, differ by chance, and are 5 to 120 seconds', () => {
    for (const begun of [1, 2, 3, 4, 5, 50]) {
      for (const random of chances) {
        const pause = backoffMs(begun, random)
        assert.ok(pause >= 5_000 && pause <= 120_000, `${begun} ${random}: ${pause}`)
      }
    }
    assert.ok(backoffMs(1, 0.999_999) < backoffMs(2, 0))
    assert.equal(new Set(chances.map((random) => backoffMs(1, random))).size, chances.length)
  })

  it('2xx ends it well, 3xx ends it with the endpoint, anything else uses up an attempt', () => {
    for (const status of [200, 204, 299])
      assert.deepEqual(judgeDelivery({ status }, 1, 0), { kind: 'delivered' })
    for (const status of [301, 302, 304, 307, 308]) {
      assert.deepEqual(judgeDelivery({ status }, 1, 0), { kind: 'failed', redirected: true })
    }
    for (const outcome of [{ status: 410 }, { status: 500 }, { status: 429 }, { error: 'none' }]) {
      assert.equal(judgeDelivery(outcome, 1, 0).kind, 'again')
      assert.equal(judgeDelivery(outcome, mostAttempts - 1, 0).kind, 'again')
      const last = judgeDelivery(outcome, mostAttempts, 0)
      assert.deepEqual(last, { kind: 'failed', redirected: false })
    }
    assert.equal(mostAttempts, 3)
  })
})
