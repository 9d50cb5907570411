import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Alarm } from './alarm.ts'
import { createAlarm } from './alarm.ts'
import { createNearestAlarm } from './nearest-alarm.ts'

const never = new AbortController().signal

/** Sleeps a millisecond less than asked, as timers of a busy process do. */
function hastyClock() {
  const clock = movedClock()
  return { ...clock, sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms - 1, signal) }
}

type Begin = (clock: Clock, ring: () => void) => Alarm['at']

const kinds: Record<string, Begin> = {
  plain(clock, ring) {
    const alarm = createAlarm(clock)
    alarm.start(ring)
    return alarm.at
  },
  nearest(clock, ring) {
    const alarm = createNearestAlarm(clock, ring)
    return (at, signal) => alarm.set(at, signal)
  },
}

describe('an alarm', () => {
  for (const [kind, begin] of Object.entries(kinds))
    it(`of the ${kind} kind waits for its time`, async () => {
      const clock = hastyClock()
      const rings: number[] = []
      const set = begin(clock, () => rings.push(clock.now()))
      const at = clock.now() + 1000
      set(at, never)
      await clock.pass(999)
      assert.deepEqual(rings, [])
      await clock.pass(1)
      assert.deepEqual(rings, [at])
    })
})
