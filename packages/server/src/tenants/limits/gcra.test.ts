import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Clock } from '@steward/base/time.ts'
import type { Rate } from '../../ground/core/fairness/rates.ts'
import type { Verdict } from '../../ground/http/rate-limits.ts'
import { toRatePace } from './gcra.ts'
import { bucketsInMemory } from './memory-buckets.ts'

const minute = 60_000

/** A bucket with a clock that the test sets. */
function bucket(rate: Rate, most?: number) {
  let now = 1_800_000_000_123
  const clock: Clock = { now: () => now, sleep: () => Promise.reject(new Error('not used')) }
  const buckets = bucketsInMemory(clock, most)
  const pace = toRatePace(rate)
  const take = (key = 'one'): Verdict => {
    const verdict = buckets.take(key, pace)
    assert.ok(!(verdict instanceof Promise))
    return verdict
  }
  return {
    take,
    look: (key = 'one') => buckets.look(key, pace),
    now: () => now,
    pass: (ms: number) => (now += ms),
    /** The number of admitted attempts. */
    attempt: (attempts: number) =>
      Array.from({ length: attempts }, () => take()).filter(({ isAdmitted }) => isAdmitted).length,
  }
}

/** The same numbers in each run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

describe('a bucket', () => {
  it('admits exactly its limit at once, for every limit that does not divide its period too', () => {
    for (const limit of [1, 2, 3, 5, 7, 60, 77, 100, 599, 600, 9_973, 100_000])
      for (const periodMs of [1_000, minute, 60 * minute, 24 * 60 * minute])
        assert.equal(bucket({ limit, periodMs }).attempt(Math.max(400, limit + 10)), limit)
  })

  it('admits 100 of 400 attempts at a burst of 100, and one more for each interval', () => {
    const { attempt, pass } = bucket({ limit: 100, periodMs: minute })
    assert.equal(attempt(400), 100)
    pass(599)
    assert.equal(attempt(10), 0)
    pass(1)
    assert.equal(attempt(10), 1)
    pass(6_000)
    assert.equal(attempt(100), 10)
    pass(10 * minute)
    assert.equal(attempt(400), 100)
  })

  it('admits in no stretch of time more than its limit and what the stretch refills', () => {
    const random = seeded(13)
    for (let round = 0; round < 40; round++) {
      const limit = 1 + Math.floor(random() * 50)
      const periodMs = 1_000 + Math.floor(random() * minute)
      const { take, now, pass } = bucket({ limit, periodMs })
      const admitted: number[] = []
      for (let n = 0; n < 600; n++) {
        if (take().isAdmitted) admitted.push(now())
        if (random() < 0.3) pass(Math.floor((random() * periodMs) / 5))
      }
      const interval = toRatePace({ limit, periodMs }).interval / 1_000
      for (const [first, from] of admitted.entries())
        for (const [last, until] of admitted.slice(first).entries())
          assert.ok(last + 1 <= limit + Math.floor((until - from) / interval), `round ${round}`)
    }
  })

  it('says how many requests remain, and when it is full again', () => {
    const { take, look, now, pass } = bucket({ limit: 60, periodMs: minute })
    const begin = now()
    const { isAdmitted, remaining, fullAtMs, retryMs } = take()
    assert.deepEqual(
      { isAdmitted, remaining, fullAtMs, retryMs },
      { isAdmitted: true, remaining: 59, fullAtMs: begin + 1_000, retryMs: 0 },
    )
    for (let n = 0; n < 58; n++) take()
    assert.equal(take().remaining, 0)
    assert.equal(look().isAdmitted, false)
    assert.equal(look().fullAtMs, begin + 60_000)
    pass(2_500)
    assert.equal(look().remaining, 2)
    pass(10 * minute)
    assert.deepEqual([look().remaining, look().fullAtMs], [60, now()])
  })

  it('is a bucket of its own for each key', () => {
    const { take } = bucket({ limit: 1, periodMs: minute })
    assert.deepEqual(
      ['a', 'a', 'b', 'b'].map((key) => take(key).isAdmitted),
      [true, false, true, false],
    )
  })

  it('names a time of its own to each refused caller, so that 15 callers at 10 a minute need one repeat each', () => {
    const { take, now, pass } = bucket({ limit: 10, periodMs: minute })
    const begin = now()
    const verdicts = Array.from({ length: 15 }, () => take())
    const refused = verdicts.filter(({ isAdmitted }) => !isAdmitted)
    assert.deepEqual(
      refused.map(({ retryMs }) => retryMs),
      [6_000, 12_000, 18_000, 24_000, 30_000],
    )
    for (const { retryMs } of refused) {
      pass(begin + retryMs - now())
      assert.equal(take().isAdmitted, true)
    }
  })

  it('asks nobody to wait longer than its period', () => {
    const { take } = bucket({ limit: 10, periodMs: minute })
    const waits = Array.from({ length: 500 }, () => take().retryMs)
    assert.ok(Math.max(...waits) <= minute)
    assert.ok(waits.slice(10).every((wait) => wait > 0))
  })

  it('is empty, and no emptier, after its clock was set back by a day', () => {
    const { attempt, pass } = bucket({ limit: 10, periodMs: minute })
    assert.equal(attempt(10), 10)
    pass(-24 * 60 * minute)
    assert.equal(attempt(1), 0)
    pass(6_000)
    assert.equal(attempt(5), 1)
  })

  it('keeps a bounded number of buckets, and forgets full ones first', () => {
    const { take, look, pass } = bucket({ limit: 1, periodMs: minute }, 100)
    for (let n = 0; n < 50; n++) take(`early ${n}`)
    pass(minute)
    for (let n = 0; n < 60; n++) take(`late ${n}`)
    assert.ok(
      Array.from({ length: 60 }, (_, n) => look(`late ${n}`)).every((each) => !each.isAdmitted),
    )
    for (let n = 0; n < 10_000; n++) take(`flood ${n}`)
    assert.equal(look('late 0').isAdmitted, true)
  })
})
