import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemo } from './memo.ts'
import { movedClock } from './time-fixture.ts'

function counted({ keepMs = 100, mostCharacters = 100 } = {}) {
  const clock = movedClock()
  const memo = createMemo<number>({ clock, keepMs, mostCharacters })
  let computed = 0
  return { clock, memo, ask: (argument: string) => memo.of(argument, () => ++computed) }
}

describe('a memo', () => {
  it('computes a result once for each argument', () => {
    const { memo, ask } = counted()
    assert.deepEqual([ask('a'), ask('a'), ask('b'), ask('a')], [1, 1, 2, 1])
    memo.close()
  })

  it('computes again after its time, however often the result was used meanwhile', async () => {
    const { clock, memo, ask } = counted()
    ask('a')
    await clock.pass(60)
    assert.equal(ask('a'), 1)
    await clock.pass(40)
    assert.equal(ask('a'), 2)
    memo.close()
  })

  it('drops a value that nobody asks for within twice the time, and then waits for nothing', async () => {
    const { clock, memo, ask } = counted()
    ask('a')
    await clock.pass(99)
    ask('b')
    assert.equal(clock.sleeping(), 1)
    await clock.pass(1)
    await clock.pass(100)
    assert.equal(clock.sleeping(), 0)
    memo.close()
  })

  it('lets go of the oldest where the arguments are too long together', () => {
    const { memo, ask } = counted({ mostCharacters: 6 })
    assert.deepEqual([ask('aaa'), ask('bbb'), ask('cc'), ask('bbb'), ask('aaa')], [1, 2, 3, 2, 4])
    memo.close()
  })

  it('keeps no result of an argument that is too long by itself', () => {
    const { memo, ask } = counted({ mostCharacters: 6 })
    assert.deepEqual([ask('a'), ask('longest'), ask('longest'), ask('a')], [1, 2, 3, 1])
    memo.close()
  })

  it('keeps no error', () => {
    const { memo, ask } = counted()
    const fail = () => {
      throw new Error('not now')
    }
    assert.throws(() => memo.of('a', fail), /not now/)
    assert.equal(ask('a'), 1)
    memo.close()
  })

  it('keeps nothing once it is closed', async () => {
    const { clock, memo, ask } = counted()
    ask('a')
    memo.close()
    assert.deepEqual([ask('a'), ask('a')], [2, 3])
    await clock.pass(100)
    assert.equal(clock.sleeping(), 0)
  })
})
