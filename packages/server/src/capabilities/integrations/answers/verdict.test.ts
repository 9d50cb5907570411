import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRetryAfter } from './send.ts'
import { answerVerdict, mostAttempts } from './verdict.ts'

const nowMs = Date.UTC(2030, 0, 1)
const after = (status: number, retryAfter: string | null = null, attempts = 1) =>
  answerVerdict({ status, retryAfter, body: '' }, { attempts, random: 0, nowMs })

describe('an attempt to deliver an answer', () => {
  it('succeeds with 2xx, and asks for a new credential after 401 and 403', () => {
    for (const status of [200, 204]) assert.deepEqual(after(status), { kind: 'delivered' })
    for (const status of [401, 403]) assert.deepEqual(after(status), { kind: 'needs_reauth' })
    for (const status of [302, 400, 404, 410]) assert.deepEqual(after(status), { kind: 'failed' })
  })

  it('is repeated after 429, 500 and silence, and a last time ends it', () => {
    for (const status of [408, 429, 500, 503]) {
      const held = status === 429 ? { heldMs: 10_000 } : {}
      assert.deepEqual(after(status), { kind: 'again', afterMs: 10_000, ...held })
      assert.deepEqual(after(status, null, mostAttempts), { kind: 'failed' })
    }
    const silence = answerVerdict({ error: 'reset' }, { attempts: 1, random: 0, nowMs })
    assert.deepEqual(silence, { kind: 'again', afterMs: 10_000 })
  })

  it('waits as long as the receiver asks, within an hour', () => {
    const waits: [string, number][] = [
      ['30', 30_000],
      ['1', 10_000],
      [new Date(nowMs + 45_000).toUTCString(), 45_000],
      [new Date(nowMs - 45_000).toUTCString(), 10_000],
      ['99999999999999999999999', 3_600_000],
      ['soon', 10_000],
    ]
    for (const [header, afterMs] of waits) {
      assert.deepEqual(after(503, header), { kind: 'again', afterMs }, header)
    }
  })

  it('is held back with all others where there were too many, also by 403 with a time', () => {
    for (const status of [403, 429]) {
      const held = (header: string) => after(status, header)
      assert.deepEqual(held('30'), { kind: 'again', afterMs: 30_000, heldMs: 30_000 })
      assert.deepEqual(held('1'), { kind: 'again', afterMs: 10_000, heldMs: 1_000 })
      assert.deepEqual(after(status, '30', mostAttempts), { kind: 'failed' })
    }
    assert.equal(after(403, 'soon').kind, 'needs_reauth')
    const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs / 1000 + 60) }
    assert.deepEqual(after(403, readRetryAfter(reset)), {
      ...{ kind: 'again', afterMs: 60_000, heldMs: 60_000 },
    })
    assert.equal(readRetryAfter({ ...reset, 'x-ratelimit-remaining': '1' }), null)
  })
})
