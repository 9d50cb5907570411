import { createAlarm } from './alarm.ts'
import type { Clock } from '@steward/base/time.ts'

/** Rings once, at the earliest of all times that were set. (The plain alarm keeps only the time that was set last.) */
export function createNearestAlarm(clock: Clock, ring: () => void) {
  const alarm = createAlarm(clock)
  let nearest = Infinity
  const stop = alarm.start(() => {
    nearest = Infinity
    ring()
  })
  return {
    set(at: number, signal: AbortSignal): void {
      if (at >= nearest) return
      nearest = at
      alarm.at(at, signal)
    },
    stop,
  }
}
