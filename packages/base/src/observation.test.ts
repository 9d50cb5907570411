import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { observation } from './observation.ts'

describe('an observation', () => {
  it('reaches all who listen, in their order, until they stop', () => {
    const counted = observation<{ n: number }>('observation.test')
    const heard: string[] = []
    assert.equal(counted.isHeard(), false)
    counted.tell({ n: 0 })
    const first = counted.listen(({ n }) => heard.push(`first ${n}`))
    const second = counted.listen(({ n }) => heard.push(`second ${n}`))
    assert.equal(counted.isHeard(), true)
    counted.tell({ n: 1 })
    first()
    counted.tell({ n: 2 })
    second()
    counted.tell({ n: 3 })
    assert.deepEqual(heard, ['first 1', 'second 1', 'second 2'])
    assert.equal(counted.isHeard(), false)
  })
})
