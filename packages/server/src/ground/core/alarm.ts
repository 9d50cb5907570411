import type { Clock } from '@steward/base/time.ts'

export type AlarmClock = Pick<Clock, 'now' | 'sleep'>

export type Alarm = {
  /** Ends the job's pause at the time; a later call takes the place of an earlier one. */
  at: (time: number, signal: AbortSignal) => void
  /** For `Job.start`. */
  start: (runNow: () => void) => () => void
}

/** Runs a job early, at the next time that it knows of. */
export function createAlarm(clock: AlarmClock): Alarm {
  let waiting = new AbortController()
  let runNow = () => {}
  return {
    at(time, signal) {
      waiting.abort()
      waiting = new AbortController()
      const either = AbortSignal.any([waiting.signal, signal])
      const passed = clock.sleep(Math.max(time - clock.now(), 0), either)
      void passed.then(() => either.aborted || runNow())
    },
    start(now) {
      runNow = now
      return () => waiting.abort()
    },
  }
}
