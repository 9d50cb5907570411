import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerVerdict, mostAttempts } from './verdict.ts'

const nowMs = Date.UTC(2030, 0, 1)
const after = (status: number, retryAfter: string | null = null, begun = 1) =>
  answerVerdict({ status, retryAfter, body: '' }, { begun, random: 0, nowMs })

describe('an attempt to deliver an answer', () => {
  it('succeeds with 2xx, and asks for a new credential after 401 and 403', () => {
    for (const status of [200, 204]) assert.deepEqual(after(status), { kind: 'delivered' })
    for (const status of [401, 403]) assert.deepEqual(after(status), { kind: 'needs_reauth' })
    for (const status of [302, 400, 404, 410]) assert.deepEqual(after(status), { kind: 'failed' })
  })

  it('is repeated after 429, 500 and silence, and a last time ends it', () => {
    for (const status of [408, 429, 500, 503]) {
      assert.deepEqual(after(status), { kind: 'again', afterMs: 10_000 })
      assert.deepEqual(after(status, null, mostAttempts), { kind: 'failed' })
    }
    const silence = answerVerdict({ error: 'reset' }, { begun: 1, random: 0, nowMs })
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
      assert.deepEqual(after(429, header), { kind: 'again', afterMs }, header)
    }
  })
})
