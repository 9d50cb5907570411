import type { Clock } from '@steward/base/time.ts'

/** Rings once, at the nearest of the times that were set: those of several things, unlike the alarm of `ground/core`. */
export function createNearestAlarm(clock: Pick<Clock, 'now' | 'sleep'>, ring: () => void) {
  let waiting = new AbortController()
  let nearest = Infinity
  return {
    set(at: number, signal: AbortSignal): void {
      if (at >= nearest) return
      nearest = at
      waiting.abort()
      waiting = new AbortController()
      const either = AbortSignal.any([waiting.signal, signal])
      const passed = clock.sleep(Math.max(at - clock.now(), 0), either)
      void passed.then(() => {
        if (either.aborted) return
        nearest = Infinity
        ring()
      })
    },
    stop: (): void => waiting.abort(),
  }
}
