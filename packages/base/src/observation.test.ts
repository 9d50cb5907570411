import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createObservation } from './observation.ts'

const refuse = (error: unknown) => assert.fail(String(error))

describe('an observation', () => {
  it('reaches all who listen, in their order, until they stop', () => {
    const counted = createObservation<{ n: number }>('observation.test')
    const heard: string[] = []
    assert.equal(counted.isHeard(), false)
    counted.tell({ n: 0 })
    const first = counted.listen(({ n }) => heard.push(`first ${n}`), refuse)
    const second = counted.listen(({ n }) => heard.push(`second ${n}`), refuse)
    assert.equal(counted.isHeard(), true)
    counted.tell({ n: 1 })
    first()
    counted.tell({ n: 2 })
    second()
    counted.tell({ n: 3 })
    assert.deepEqual(heard, ['first 1', 'second 1', 'second 2'])
    assert.equal(counted.isHeard(), false)
  })

  it('goes on where a listener throws, which hears of it', () => {
    const counted = createObservation<{ n: number }>('observation.test.throws')
    const [errors, heard]: [unknown[], number[]] = [[], []]
    const wrong = new Error('it cannot be counted')
    const stops = [
      counted.listen(
        () => {
          throw wrong
        },
        (error) => errors.push(error),
      ),
      counted.listen(({ n }) => heard.push(n), refuse),
    ]
    counted.tell({ n: 1 })
    for (const stop of stops) stop()
    assert.deepEqual([errors, heard], [[wrong], [1]])
  })
})
