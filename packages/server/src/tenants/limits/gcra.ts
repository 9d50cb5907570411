/**
 * The generic cell rate algorithm. The state of a bucket is one number: the time at which it is full again. A request moves
 * that time on by one interval, and is refused where the time would then lie more than a burst ahead. All times are whole
 * microseconds, so that sums neither lose nor gain a fraction.
 */
import type { Rate } from '../../ground/core/rates.ts'

export type Pace = { rate: Rate; interval: number; burst: number }

/** The interval is rounded down, so that the whole limit fits into one period. */
export function paceOf(rate: Rate): Pace {
  const interval = Math.floor((rate.periodMs * 1_000) / rate.limit)
  return { rate, interval, burst: interval * rate.limit }
}

/** From where the next request counts. A clock that was set back leaves an empty bucket, which fills as any other. */
export const startOf = (fullAt: number, now: number, { burst }: Pace): number =>
  Math.min(Math.max(fullAt, now), now + burst)

/** How many requests the bucket admits now. */
export const roomIn = (fullAt: number, now: number, pace: Pace): number =>
  Math.floor((now + pace.burst - startOf(fullAt, now, pace)) / pace.interval)

/**
 * When a refused caller shall come again. Each refusal names a time of its own, one interval after the last one named: callers
 * that all came when the bucket opens would be refused again, but for one. After a whole burst the times begin anew.
 */
export function nextInvitation(last: number, now: number, start: number, pace: Pace): number {
  const opens = start + pace.interval - pace.burst
  const next = Math.max(last + pace.interval, opens)
  return next > now + pace.burst ? opens : next
}
