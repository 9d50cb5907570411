import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refreshed } from './refreshed.ts'
import { given } from './stubs/outcome.ts'

const minuteMs = 60_000

function subject(lifetimeMs: number | null) {
  let [nowMs, count] = [0, 0]
  let failure: Error | undefined
  let held: PromiseWithResolvers<void> | undefined
  const identity = refreshed(
    async () => {
      await held?.promise
      if (failure) throw failure
      return { name: ++count, expiresMs: lifetimeMs === null ? null : nowMs + lifetimeMs }
    },
    { now: () => nowMs, secrets: ['the-secret'] },
  )
  return {
    identity,
    name: async () => given(await identity.current()).name,
    asked: () => count,
    pass: (ms: number) => void (nowMs += ms),
    fail: (error: Error | undefined) => void (failure = error),
    hold: () => (held = Promise.withResolvers()),
  }
}
const settled = () => new Promise(setImmediate)

void describe('a credential that ends', () => {
  void it('is asked for once by callers that come together', async () => {
    const { name, hold, asked } = subject(60 * minuteMs)
    const { resolve } = hold()
    const names = [name(), name(), name()]
    resolve()
    assert.deepEqual(await Promise.all(names), [1, 1, 1])
    assert.equal(asked(), 1)
  })

  void it('is replaced five minutes before its end, and nobody waits for that', async () => {
    const { name, pass, hold } = subject(60 * minuteMs)
    await name()
    pass(54 * minuteMs)
    assert.equal(await name(), 1)
    pass(2 * minuteMs)
    const { resolve } = hold()
    assert.equal(await name(), 1)
    resolve()
    await settled()
    assert.equal(await name(), 2)
  })

  void it('is replaced at half of its time where this is short', async () => {
    const { name, pass } = subject(4 * minuteMs)
    await name()
    pass(2 * minuteMs)
    assert.equal(await name(), 1)
    await settled()
    assert.equal(await name(), 2)
  })

  void it('is given out to its end while the cloud gives no other', async () => {
    const { identity, name, pass, fail } = subject(60 * minuteMs)
    await name()
    fail(new Error('not now, the-secret'))
    pass(57 * minuteMs)
    assert.equal(await name(), 1)
    await settled()
    assert.equal(await name(), 1)
    pass(3 * minuteMs)
    assert.deepEqual(await identity.current(), {
      ok: false,
      message: 'not now, **********',
      retryable: true,
    })
    fail(undefined)
    assert.equal(await name(), 2)
  })

  void it('is asked for again when it was forgotten, also in the midst of a request', async () => {
    const { identity, name, hold } = subject(null)
    assert.equal(await name(), 1)
    assert.equal(await name(), 1)
    identity.forget()
    assert.equal(await name(), 2)
    identity.forget()
    const { resolve } = hold()
    const old = name()
    identity.forget()
    const next = name()
    resolve()
    assert.deepEqual(await Promise.all([old, next]), [3, 4])
    assert.equal(await name(), 4)
  })
})
