import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LoopTime } from './event-loop.ts'
import { createLoop } from './event-loop.ts'

/** A loop in which the test runs the rounds and sets the time. */
function rounds() {
  let due: (() => void)[] = []
  const breaks: { ms: number; call: () => void }[] = []
  const time = { ms: 0 }
  const loopTime: LoopTime = {
    nextRound: (call) => void due.push(call),
    afterPiece: (call) => void setImmediate(call),
    after: (ms, call) => void breaks.push({ ms, call }),
    now: () => time.ms,
  }
  async function run(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve))
    const now = due
    due = []
    for (const next of now) next()
    await new Promise((resolve) => setImmediate(resolve))
    return due.length
  }
  return { loopTime, time, breaks, run }
}

describe('work that holds the event loop', () => {
  it('begins once in each round, for one tenant after the other', async () => {
    const { loopTime, breaks, run } = rounds()
    const loop = createLoop(loopTime)
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
    assert.deepEqual(breaks, [], 'short pieces follow each other at once')
    const late = wait('a', 'late')
    await run()
    await late
    assert.equal(begun.at(-1), 'late')
  })

  it('begins behind a piece that is written when that is committed', async () => {
    const { loopTime, run } = rounds()
    const loop = createLoop(loopTime)
    const begun: string[] = []
    void loop.wait('a', 'write').then(() => begun.push('written'))
    void loop.wait('b').then(() => begun.push('read'))
    const seen: number[] = []
    for (let round = 0; round < 4; round++) {
      await run()
      seen.push(begun.length)
    }
    assert.deepEqual(seen, [1, 1, 1, 2])
  })

  it('frees the loop for others for twice as long as it held the loop itself', async () => {
    const { loopTime, time, breaks, run } = rounds()
    const loop = createLoop(loopTime)
    const begun: string[] = []
    for (const [name, ms] of [
      ['first', 60],
      ['second', 9_000],
      ['third', 0],
    ] as const)
      void loop.wait('a').then(() => {
        begun.push(name)
        time.ms += ms
      })
    while ((await run()) > 0);
    assert.deepEqual(begun, ['first'])
    assert.equal(breaks[0]?.ms, 120)
    breaks[0]?.call()
    while ((await run()) > 0);
    assert.deepEqual(begun, ['first', 'second'])
    assert.equal(breaks[1]?.ms, 1_000, 'a break has an end')
    breaks[1]?.call()
    while ((await run()) > 0);
    assert.deepEqual(begun, ['first', 'second', 'third'])
  })

  it('counts no work of others that ran between its rounds, and what its own writes took', async () => {
    const { loopTime, time, breaks, run } = rounds()
    const loop = createLoop(loopTime)
    const begun: string[] = []
    const others = async () => {
      while ((await run()) > 0) time.ms += 30
    }
    void loop.wait('a', 'write').then(() => begun.push('quick'))
    void loop.wait('a', 'write').then(() => {
      begun.push('written')
      loop.addHeldMs(40)
    })
    void loop.wait('a').then(() => begun.push('behind'))
    await others()
    assert.deepEqual(begun, ['quick', 'written'])
    assert.deepEqual(
      breaks.map(({ ms }) => ms),
      [80],
    )
  })
})
