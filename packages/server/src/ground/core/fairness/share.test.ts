import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Share } from './share.ts'
import { createShare } from './share.ts'

/** Takes slots until the tenant gets no more. */
function takeAll(share: Share, tenant: string): (() => void)[] {
  const taken: (() => void)[] = []
  for (;;) {
    const room = share.room(tenant)
    const release = share.take(tenant)
    assert.equal(room > 0, release !== undefined)
    if (!release) return taken
    taken.push(release)
  }
}

const never = new AbortController().signal

describe('slots that tenants share', () => {
  it('are for one tenant up to its share, and for another at once, however many the first holds', () => {
    const share = createShare({ total: 1000, percent: 80 })
    assert.equal(share.room('a'), 800)
    assert.equal(takeAll(share, 'a').length, 800)
    assert.ok(takeAll(share, 'b').length >= 100)
    assert.ok(share.take('c'), 'two that want all leave room for a third')
  })

  it('are kept for the first slot of tenants that come when others have all they can get', () => {
    const share = createShare({ total: 1000, percent: 80 })
    for (let n = 0; n < 50; n++) assert.ok(takeAll(share, `tenant${n}`).length > 0, `${n}`)
    const small = createShare({ total: 20, percent: 80 })
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e'].map((tenant) => takeAll(small, tenant).length),
      [16, 3, 1, 0, 0],
    )
  })

  it('say how many a tenant may take, whatever other tenants have', () => {
    for (let total = 1; total < 30; total++)
      for (const percent of [1, 50, 80, 99, 100])
        for (let others = 0; others < total; others++) {
          const share = createShare({ total, percent })
          for (let n = 0; n < others; n++) share.take(`other${n % 3}`)
          const room = share.room('a')
          assert.equal(takeAll(share, 'a').length, room, `${total} ${percent} ${others}`)
        }
  })

  it('keep one for a newcomer, unless all were asked for or there is only one', () => {
    const lengths = [1, 2, 3, 10].map(
      (total) => takeAll(createShare({ total, percent: 99 }), 'a').length,
    )
    assert.deepEqual(lengths, [1, 1, 2, 9])
    assert.equal(takeAll(createShare({ total: 10, percent: 100 }), 'a').length, 10)
  })

  it('come to be held about equally by tenants that want all of them', () => {
    const share = createShare({ total: 100, percent: 80 })
    const a = takeAll(share, 'a')
    const b: (() => void)[] = []
    while (a.length > 0) {
      a.pop()?.()
      b.push(...takeAll(share, 'b'))
      if (share.room('a') > 0) break
    }
    assert.ok(Math.abs(a.length - b.length) <= 5, `${a.length} ${b.length}`)
  })

  it('are given to those that wait by tenant in turn, and in order within a tenant', async () => {
    const share = createShare({ total: 3, percent: 50 })
    const held = ['x', 'y', 'z'].map((tenant) => share.take(tenant))
    const order: string[] = []
    const waits = ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
      const release = await share.wait(name.slice(0, 1), never)
      order.push(name)
      await new Promise((resolve) => setImmediate(resolve))
      release()
    })
    held[0]?.()
    await Promise.all(waits)
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'a3'])
    assert.deepEqual([share.held('a'), share.held('y'), share.isAwaitedOf('y')], [0, 1, false])
  })

  it('are for a tenant no more than it may hold, and those that wait are served once it may hold more', async () => {
    let most = 2
    const share = createShare({
      total: 10,
      percent: 80,
      most: (name) => (name === 'a' ? most : 10),
    })
    const mine = takeAll(share, 'a')
    assert.equal(mine.length, 2)
    const waiting = share.wait('a', never)
    assert.deepEqual([share.isAtMost('a'), share.isAtMost('b')], [true, false])
    assert.deepEqual([share.isAwaitedOf('a'), share.isAwaitedOf('b')], [true, false])
    for (let n = 0; n < 3; n++) share.take('b')
    assert.equal(share.isAwaitedOf('b'), false, 'a slot of another would not help')
    most = 3
    share.serve()
    await waiting
    assert.equal(share.held('a'), 3)
    most = 0
    for (const release of mine) release()
    assert.equal(share.take('a'), undefined)
  })

  it('are waited for no longer than the signal says, and given back once', async () => {
    const share = createShare({ total: 1, percent: 80 })
    const release = share.take('a')
    const given = new AbortController()
    const waiting = share.wait('b', given.signal)
    assert.deepEqual(
      ['a', 'b', 'c'].map((tenant) => share.isAwaitedOf(tenant)),
      [true, true, true],
    )
    given.abort(new Error('given up'))
    await assert.rejects(waiting, /given up/)
    release?.()
    release?.()
    assert.equal(share.held('a'), 0)
    assert.ok(share.take('b'))
    await assert.rejects(share.wait('c', given.signal), /given up/)
  })
})
