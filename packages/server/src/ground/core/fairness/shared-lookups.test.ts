import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shareLookups } from './shared-lookups.ts'

describe('questions that are joined', () => {
  it('have answers that are no older than who asks, and as few as that takes', async () => {
    let now = 0
    let asked = 0
    const open: (() => void)[] = []
    const ask = shareLookups(async (_about: string) => {
      const began = now
      asked++
      await new Promise<void>((resolve) => open.push(resolve))
      return began
    })
    const answerAll = () => {
      for (const answer of open.splice(0)) answer()
    }
    const first = ask('a')
    now = 1
    const second = [ask('a'), ask('a')]
    const elsewhere = ask('b')
    answerAll()
    assert.deepEqual([await first, await elsewhere], [0, 1])
    await new Promise((resolve) => setImmediate(resolve))
    now = 2
    const third = [ask('a'), ask('a')]
    answerAll()
    assert.deepEqual(await Promise.all(second), [1, 1])
    await new Promise((resolve) => setImmediate(resolve))
    answerAll()
    assert.deepEqual(await Promise.all(third), [2, 2])
    const last = ask('a')
    answerAll()
    assert.equal(await last, 2)
    assert.equal(asked, 5)
  })

  it('are asked anew after one that failed', async () => {
    let asked = 0
    const ask = shareLookups(async () => {
      if (++asked === 1) throw new Error('no')
      return asked
    })
    const all = await Promise.allSettled([ask('a'), ask('a')])
    assert.deepEqual(
      all.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.equal(await ask('a'), 3)
  })
})
