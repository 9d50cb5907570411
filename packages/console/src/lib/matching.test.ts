import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matching } from './matching.ts'

const found = (typed: string, ...names: string[]) => matching(names, typed, (name) => [name])

void describe('names that fit what is typed', () => {
  void it('come the best first: the whole name, its beginning, words of it, anything in it', () => {
    assert.deepEqual(found('review', 'prereview', 'code review', 'reviewer', 'Review', 'triager'), [
      'Review',
      'reviewer',
      'code review',
      'prereview',
    ])
  })

  void it('hold every word that was typed, in any order; nothing typed fits all', () => {
    assert.deepEqual(found('test flaky', 'fix the flaky test', 'flaky'), ['fix the flaky test'])
    assert.deepEqual(found(' ', 'b', 'a'), ['b', 'a'])
  })

  void it('may be one of several names of a thing', () => {
    const things = [{ id: 'agent_1', name: 'reviewer' }]
    assert.deepEqual(
      matching(things, 'AGENT_1', ({ id, name }) => [name, id]),
      things,
    )
  })
})
