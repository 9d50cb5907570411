import type { Clock } from '@steward/base/time.ts'

export type Alarm = {
  /** Ends the job's pause at `time`, in ms since the epoch. A later call replaces an earlier one. */
  at: (time: number, signal: AbortSignal) => void
  /** The `start` of the job that the alarm wakes. */
  start: (runNow: () => void) => () => void
}

/** Lets a job run before its pause is over, at a time that the job names. */
export function createAlarm(clock: Clock): Alarm {
  let waiting = new AbortController()
  let runNow = () => {}
  return {
    at(time, signal) {
      waiting.abort()
      waiting = new AbortController()
      const either = AbortSignal.any([waiting.signal, signal])
      void sleepUntil(clock, time, either).then(() => either.aborted || runNow())
    },
    start(now) {
      runNow = now
      return () => waiting.abort()
    },
  }
}

/** A timer of a busy process ends early by some milliseconds: a job that looked then would find nothing due. */
async function sleepUntil(clock: Clock, time: number, signal: AbortSignal): Promise<void> {
  do await clock.sleep(Math.max(time - clock.now(), 0), signal)
  while (!signal.aborted && clock.now() < time)
}
