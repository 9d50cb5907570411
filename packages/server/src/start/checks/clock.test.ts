import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkClock } from './clock.ts'

const clockAt = (day: string) => ({ now: () => Date.parse(day) })

describe('the clock of a machine', () => {
  it('is found wrong when it is years off', () => {
    for (const day of ['2001-01-01', '2026-10-01', '2107-01-01'])
      assert.match(checkClock(clockAt(day)).about, new RegExp(`says that it is ${day}`))
  })

  it('is right on a day after this version was made', () => {
    assert.equal(checkClock(clockAt('2027-03-01')).state, 'ok')
  })
})
