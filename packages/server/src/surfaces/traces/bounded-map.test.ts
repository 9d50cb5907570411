import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundedMap } from './bounded-map.ts'

describe('a bounded map', () => {
  it('forgets the entry that was set first beyond its bound, and what was taken', () => {
    const map = boundedMap<number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [3, undefined, 4])
    assert.equal(map.take('a'), 3)
    assert.equal(map.take('a'), undefined)
  })
})
