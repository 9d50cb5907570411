import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import type { UserMessage } from './retry.ts'
import { failureOf, whyNoRetry } from './retry.ts'
import { retryWords } from './words.ts'

const error = (message: string) => ({ type: 'session.error', error: { message } }) as SessionEvent
const message = (seq: number | null) => ({ type: 'user.message', seq }) as UserMessage

void describe('a failure that can be tried again', () => {
  const failed = { failure: 'no such key' }

  void it('is a turn of a session that rests, as the service says why', () => {
    const rests = { status: 'idle', archived_at: null } as const
    assert.deepEqual(failureOf(rests, failed, []), { isOver: false, why: 'no such key' })
    assert.equal(failureOf(rests, { failure: null }, [error('old')]), undefined)
    assert.equal(failureOf(rests, undefined, []), undefined)
    assert.equal(failureOf({ ...rests, status: 'running' }, failed, []), undefined)
    assert.equal(
      failureOf({ ...rests, archived_at: '2026-01-01T00:00:00Z' }, failed, []),
      undefined,
    )
  })

  void it('is a session that takes no more messages, with its last error', () => {
    const over = { status: 'failed', archived_at: null } as const
    const events = [error('first'), error('last'), message(3)]
    assert.deepEqual(failureOf(over, failed, events), { isOver: true, why: 'last' })
  })

  void it('says why the last message cannot be sent again', () => {
    assert.equal(whyNoRetry(undefined, false), retryWords.looking)
    assert.equal(whyNoRetry(null, false), retryWords.noMessage)
    assert.equal(whyNoRetry(message(1), false), undefined)
    assert.equal(whyNoRetry(message(1), true), retryWords.isFirst)
    assert.equal(whyNoRetry(message(2), true), undefined)
    assert.equal(whyNoRetry(message(null), true), undefined, 'it waits behind the whole log')
  })
})
