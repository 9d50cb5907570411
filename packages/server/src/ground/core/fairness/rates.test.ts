import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRates, unitOf } from './rates.ts'

describe('the setting of rates', () => {
  it('names classes with their rates by the second, the minute, the hour or the day', () => {
    assert.deepEqual(parseRates('reads:5/s, writes:60/m,sessions:7/h,uploads:1000000/d'), {
      reads: { limit: 5, periodMs: 1_000 },
      writes: { limit: 60, periodMs: 60_000 },
      sessions: { limit: 7, periodMs: 3_600_000 },
      uploads: { limit: 1_000_000, periodMs: 86_400_000 },
    })
    assert.equal(parseRates('off'), 'off')
    assert.equal(unitOf({ limit: 7, periodMs: 3_600_000 }), 'hour')
  })

  it('is refused with the part that is wrong, and what would be right', () => {
    const refusals: [string, RegExp][] = [
      ['writes:60/m,read:600/m', /"read:600\/m" is not class:rate; the classes are reads, writes/],
      ['writes', /"writes" is not class:rate/],
      ['writes:60/m:5', /"writes:60\/m:5" is not class:rate/],
      ['writes:60', /"60" is not a rate: write a number, a slash and s, m, h or d, such as 60\/m/],
      ['writes:60/w', /"60\/w" is not a rate/],
      ['writes:-1/m', /"-1\/m" is not a rate/],
      ['writes:1.5/m', /"1.5\/m" is not a rate/],
      ['writes:0/m', /"0\/m" is not a rate: allow 1 to 1000000 requests/],
      ['writes:1000001/m', /"1000001\/m" is not a rate: allow 1 to 1000000 requests/],
      ['writes:60/m,writes:5/m', /writes is named twice/],
      [
        'mistakes:5/m',
        /the classes are reads, writes, sessions, uploads, messages, sign_in, mail, failures$/,
      ],
      [',', /no class is named; write off for no limits/],
      ['off,writes:60/m', /"off" is not class:rate/],
    ]
    for (const [text, message] of refusals) assert.throws(() => parseRates(text), message, text)
  })
})
