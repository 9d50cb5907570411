import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { recoveryLane } from './recovery-lane.ts'

const never = new AbortController().signal

/** Turns that enter a lane, and the names of those that went on, in their order. */
function lane() {
  const clock = movedClock()
  const recoveries = recoveryLane(clock)
  const begun: string[] = []
  return {
    begun,
    pass: (ms: number) => clock.pass(ms),
    enter: async (name: string, isSuspect: boolean, size = 1, signal = never, tenant = 'one') => {
      const leave = await recoveries.enter({ isSuspect, size, tenant }, signal)
      begun.push(name)
      return leave
    },
  }
}

// verifies: running/recovery/one-at-a-time
describe('turns of a dead process', () => {
  it('go on together when they have died once, and before the suspects', async () => {
    const { begun, enter, pass } = lane()
    const suspect = enter('suspect', true)
    const [one, other] = await Promise.all([enter('one', false), enter('other', false)])
    await pass(2_000)
    assert.deepEqual(begun, ['one', 'other'])
    one()
    one()
    await pass(0)
    assert.equal(begun.length, 2, 'the same turn leaves once')
    other()
    await suspect
    assert.deepEqual(begun, ['one', 'other', 'suspect'])
  })

  it('go on one at a time when they have died twice, the smallest first', async () => {
    const { begun, enter, pass } = lane()
    const [large, small, middle] = [3, 1, 2].map((size) => enter(`${size}`, true, size))
    await pass(1_000)
    const leave = await small
    await pass(1_000)
    assert.deepEqual(begun, ['1'])
    leave?.()
    const next = await middle
    assert.deepEqual(begun, ['1', '2'])
    next?.()
    await large
    assert.deepEqual(begun, ['1', '2', '3'])
  })

  it('wait no longer than a minute for one that keeps nothing', async () => {
    const { begun, enter, pass } = lane()
    void enter('silent', true, 1)
    const other = enter('other', true, 2)
    await pass(1_000)
    await pass(59_000)
    assert.deepEqual(begun, ['silent'])
    await pass(1_000)
    await other
  })

  it('go on in turn by their workspaces, so that the many of one hold up no other', async () => {
    const { begun, enter, pass } = lane()
    for (const name of ['a1', 'a2', 'a3', 'a4']) void enter(name, true, 1)
    for (const size of [8, 9]) void enter(`b${size}`, true, size, never, 'other')
    await pass(1_000)
    for (let minutes = 0; minutes < 5; minutes++) await pass(60_000)
    assert.deepEqual(begun, ['a1', 'b8', 'a2', 'b9', 'a3', 'a4'])
  })

  it('give way when their turn is interrupted or the server stops, before or while they wait', async () => {
    const { enter, pass, begun } = lane()
    await enter('gone', true, 1, AbortSignal.abort())
    const stop = new AbortController()
    const waiting = enter('stopped', true, 1, stop.signal)
    const other = enter('other', true, 2)
    stop.abort()
    await waiting
    await pass(1_000)
    await other
    assert.deepEqual(begun, ['gone', 'stopped', 'other'])
  })
})
