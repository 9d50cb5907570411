import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { invalid, notFound } from '../core/errors.ts'
import { errorAnswer } from './errors.ts'

const messageOf = (error: Error): unknown => {
  const { body } = errorAnswer(error, { dialect: 'client', requestId: 'req_1' })
  return 'error' in body && body.error instanceof Object && 'message' in body.error
    ? body.error.message
    : undefined
}

describe('the message of an error', () => {
  it('repeats at most 100 characters of what was sent', () => {
    const sent = 'a'.repeat(5_000)
    const cut = `${'a'.repeat(100)}…`
    assert.equal(messageOf(notFound('agent', sent)), `agent ${cut} does not exist`)
    assert.equal(messageOf(invalid(`path: ${sent} is taken`)), `path: ${cut} is taken`)
    assert.equal(
      messageOf(notFound('agent', 'a b '.repeat(100))),
      `agent ${'a b '.repeat(25)}… does not exist`,
    )
  })

  it('is whole where its words are short', () => {
    const message = `name: ${'has many words '.repeat(50)}`
    assert.equal(messageOf(invalid(message)), message)
  })
})
