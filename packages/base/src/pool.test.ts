import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PoolOptions } from './pool.ts'
import { createPool } from './pool.ts'

const idleMs = 60
const everyMs = 10

/** A pool of arrays, and a clock that the test moves: `look` lets the pool's sleep end. */
function pooled(options: Partial<PoolOptions<string[]>> = {}) {
  let now = 0
  let wake = Promise.withResolvers<void>()
  const slept: number[] = []
  const closed: string[] = []
  const errors: unknown[] = []
  const pool = createPool<string[]>({
    clock: {
      now: () => now,
      sleep: async (ms, signal) => {
        slept.push(ms)
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
        await Promise.race([wake.promise, aborted])
      },
    },
    ...{ idleMs, everyMs },
    close: (_thing, key) => void closed.push(key),
    fail: (error) => void errors.push(error),
    ...options,
  })
  return {
    ...{ pool, closed, errors, slept },
    pass: (ms: number) => void (now += ms),
    async look() {
      wake.resolve()
      wake = Promise.withResolvers()
      await new Promise((resolve) => setImmediate(resolve))
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
}
const made = (): string[] => []

describe('a pool', () => {
  it('makes one thing of a key for all that use it', async () => {
    await using at = pooled()
    const [first, second] = [at.pool.use('a', made), at.pool.use('a', made)]
    assert.equal(first.thing, second.thing)
    assert.equal(at.pool.get('a'), first.thing)
    assert.notEqual(at.pool.hold('b', made), first.thing)
    assert.deepEqual([at.pool.users('a'), at.pool.users('b'), at.pool.users('c')], [2, 0, 0])
  })

  it('closes a thing that nobody has used for the idle time, and none before', async () => {
    await using at = pooled()
    const { leave } = at.pool.use('a', made)
    at.pool.hold('b', made)
    at.pass(idleMs - 1)
    await at.pool.closeIdle()
    assert.deepEqual(at.closed, [])
    at.pass(1)
    await at.pool.closeIdle()
    assert.deepEqual(at.closed, ['b'])
    at.pass(10 * idleMs)
    leave()
    assert.deepEqual(at.pool.idle(), [{ key: 'a', thing: [], since: 11 * idleMs }])
    await at.pool.closeIdle()
    assert.deepEqual(at.closed, ['b'])
    at.pass(idleMs)
    await at.pool.closeIdle()
    assert.deepEqual(at.closed, ['b', 'a'])
    assert.equal(at.pool.get('a'), undefined)
  })

  it('looks for idle things by itself, until it is closed', async () => {
    const at = pooled()
    at.pool.hold('a', made)
    at.pass(idleMs)
    await at.look()
    assert.deepEqual(at.closed, ['a'])
    assert.deepEqual(at.slept, [everyMs, everyMs])
    await at.pool.close()
    await at.look()
    assert.equal(at.slept.length, 2)
  })

  it('distinguishes the last user from the others', async () => {
    await using at = pooled()
    const [first, second] = [at.pool.use('a', made), at.pool.use('a', made)]
    assert.deepEqual([first.leave(), second.leave()], [false, true])
  })

  it('closes a retired thing when its last user releases it, and makes another meanwhile', async () => {
    await using at = pooled()
    const old = at.pool.use('a', made)
    at.pool.retire('a')
    const fresh = at.pool.use('a', made)
    assert.notEqual(fresh.thing, old.thing)
    assert.deepEqual(at.closed, [])
    old.leave()
    assert.deepEqual(at.closed, ['a'])
    assert.equal(at.pool.get('a'), fresh.thing)
    fresh.leave()
    at.pool.retire('a')
    assert.deepEqual(at.closed, ['a', 'a'])
  })

  it('does not close a removed thing, which is the caller’s', async () => {
    await using at = pooled()
    const { thing, leave } = at.pool.use('a', made)
    assert.equal(at.pool.remove('a', ['another']), undefined)
    assert.equal(at.pool.remove('a', thing), thing)
    assert.equal(at.pool.remove('a'), undefined)
    leave()
    assert.deepEqual(at.closed, [])
  })

  it('closes a thing that may not stay, though it is in use', async () => {
    let mayStay = true
    await using at = pooled({ mayStay: async () => mayStay })
    at.pool.use('a', made)
    await at.look()
    assert.deepEqual(at.closed, [])
    mayStay = false
    await at.look()
    assert.deepEqual(at.closed, ['a'])
  })

  it('keeps a thing that it could not ask about, and says so', async () => {
    const away = new Error('the database is away')
    await using at = pooled({ mayStay: () => Promise.reject(away) })
    at.pool.hold('a', made)
    await at.look()
    assert.deepEqual([at.closed, at.errors], [[], [away]])
  })

  it('reports what could not be closed, and closes the others', async () => {
    const closed: string[] = []
    const broken = new Error('it is stuck')
    const at = pooled({
      close: (_thing, key) => {
        if (key === 'a') throw broken
        closed.push(key)
      },
    })
    for (const key of ['a', 'b']) at.pool.hold(key, made)
    at.pass(idleMs)
    await at.pool.closeIdle()
    assert.deepEqual([closed, at.errors], [['b'], [broken]])
    await at.pool.close()
  })

  it('closes everything at its end, once, used or retired', async () => {
    const at = pooled()
    const { leave } = at.pool.use('a', made)
    at.pool.retire('a')
    at.pool.use('b', made)
    at.pool.hold('c', made)
    await at.pool.close()
    assert.deepEqual(at.closed, ['b', 'c', 'a'])
    leave()
    await at.pool.close()
    assert.deepEqual(at.closed, ['b', 'c', 'a'])
  })
})
