import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLoop } from './loop.ts'

/** Runs what is due in the next round of a loop, and the promises that it settles. */
function rounds() {
  let due: (() => void)[] = []
  return {
    later: (next: () => void) => void due.push(next),
    run: async () => {
      const now = due
      due = []
      for (const next of now) next()
      await new Promise((resolve) => setImmediate(resolve))
      return due.length
    },
  }
}

describe('work that holds the event loop', () => {
  it('begins once in each round, for one tenant after the other', async () => {
    const { later, run } = rounds()
    const loop = createLoop(later)
    const begun: string[] = []
    const wait = (tenant: string, name: string) =>
      loop.wait(tenant).then(() => void begun.push(name))
    const all = ['1', '2', '3', '4'].map((each) => wait('a', `a${each}`))
    all.push(wait('b', 'b1'), wait('c', 'c1'))
    const seen: string[][] = []
    for (let round = 0; round < 3; round++) {
      await run()
      seen.push([...begun])
    }
    all.push(wait('b', 'b2'))
    while ((await run()) > 0) seen.push([...begun])
    await Promise.all(all)
    assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
    assert.deepEqual(seen[1], ['a1', 'b1'])
    const late = wait('a', 'late')
    await run()
    await late
    assert.equal(begun.at(-1), 'late')
  })
})
