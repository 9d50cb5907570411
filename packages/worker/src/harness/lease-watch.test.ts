import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { leaseWatch } from './lease-watch.ts'

function watched() {
  let [time, lapses] = [0, 0]
  const waiting: { at: number; act: () => void }[] = []
  const lease = leaseWatch(() => lapses++, {
    now: () => time,
    later: (ms, act) => void waiting.push({ at: time + ms, act }),
  })
  return {
    ...{ lease, lapses: () => lapses, waits: () => waiting.length },
    /** Moves the clock. `isHung`: no timer of this process runs. */
    pass(ms: number, isHung = false) {
      time += ms
      if (isHung) return
      for (const one of waiting.splice(0)) {
        if (one.at <= time) one.act()
        else waiting.push(one)
      }
    },
  }
}

describe('the watch of a lease', () => {
  it('ends a harness that hears nothing for the lease, once', () => {
    const here = watched()
    here.lease.extend(1_000)
    here.pass(999)
    assert.equal(here.lapses(), 0)
    here.pass(1)
    assert.equal(here.lapses(), 1)
    here.pass(10_000)
    assert.equal(here.lapses(), 1)
  })

  it('goes on as long as the lease is extended, with one timer', () => {
    const here = watched()
    for (let n = 0; n < 50; n++) {
      here.lease.extend(1_000)
      here.pass(900)
      assert.deepEqual([here.lapses(), here.waits()], [0, 1])
    }
    here.pass(100)
    assert.equal(here.lapses(), 1)
  })

  it('ends sooner after a message of a shorter lease', () => {
    const here = watched()
    here.lease.extend(60_000)
    here.lease.extend(1_000)
    here.pass(1_000)
    assert.equal(here.lapses(), 1)
  })

  it('does not extend the lease by messages that waited unread while it hung', () => {
    const here = watched()
    here.lease.extend(1_000)
    here.pass(5_000, true)
    here.lease.extend(1_000)
    here.pass(0)
    assert.equal(here.lapses(), 1)
  })

  it('does nothing without a message of a lease', () => {
    const here = watched()
    here.pass(10 ** 9)
    assert.deepEqual([here.lapses(), here.waits()], [0, 0])
  })
})
