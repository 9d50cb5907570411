import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { globMatcher } from './glob.ts'

describe('a pattern with *', () => {
  it('matches the whole text, and lets no part serve twice', () => {
    const cases: [pattern: string, text: string, isMatch: boolean][] = [
      ['a', 'a', true],
      ['a', 'ab', false],
      ['', '', true],
      ['*', '', true],
      ['a*', 'a', true],
      ['a*a', 'a', false],
      ['a*b*c', 'a-b-c', true],
      ['ab*bc', 'abc', false],
      ['a*bc*c', 'abc', false],
      ['a.c', 'abc', false],
      ['a*c', 'a\nc', true],
    ]
    for (const [pattern, text, isMatch] of cases)
      assert.equal(globMatcher(pattern)(text), isMatch, `${pattern} ${text}`)
  })

  it('takes a time that grows with the text, whatever the pattern', () => {
    const matches = globMatcher('*a'.repeat(2_000) + 'b')
    assert.equal(matches('a'.repeat(100_000)), false)
  })
})
