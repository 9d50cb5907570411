import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId, primaryThreadId } from './ids.ts'

describe('an id', () => {
  it('carries its kind, and is safe in a path', () => {
    assert.match(newId('session'), /^sesn_[0-9a-f]{32}$/)
    assert.match(newId('event'), /^sevt_[0-9a-f]{32}$/)
    assert.match(newId('request'), /^req_[0-9a-f]{32}$/)
  })

  it('sorts by its making, within a millisecond too', () => {
    const ids = Array.from({ length: 1_000 }, () => newId('event'))
    assert.deepEqual(ids.toSorted(), ids)
  })

  it('is given once', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('agent'))
    assert.equal(new Set(ids).size, ids.length)
  })

  it('of the primary thread follows from the session', () => {
    const session = newId('session')
    assert.equal(primaryThreadId(session), session.replace('sesn_', 'sthr_'))
  })
})
