/**
 * The generic cell rate algorithm. The state of a bucket is one number: the time at which it is full again. A request
 * moves that time on by one interval, and is refused when the time would then lie more than a burst ahead. All times
 * are whole microseconds, so that sums neither lose nor gain a fraction.
 */
import type { Rate } from '../../ground/core/fairness/rates.ts'

export type RatePace = { rate: Rate; interval: number; burst: number }

/** The interval is rounded down, so that the whole limit fits into one period. */
export function toRatePace(rate: Rate): RatePace {
  const interval = Math.floor((rate.periodMs * 1_000) / rate.limit)
  return { rate, interval, burst: interval * rate.limit }
}

/** The time from which the next request counts. A clock that was set back leaves an empty bucket, which refills. */
export const bucketStart = (fullAt: number, now: number, { burst }: RatePace): number =>
  Math.min(Math.max(fullAt, now), now + burst)

/** The number of requests that the bucket admits now. */
export const roomIn = (fullAt: number, now: number, pace: RatePace): number =>
  Math.floor((now + pace.burst - bucketStart(fullAt, now, pace)) / pace.interval)

/**
 * The time at which a refused caller should retry. Each refusal names a time one interval after the last one: if all
 * callers came when the bucket opens, all but one would be refused again. After a whole burst the times start anew.
 */
export function nextInvitation(last: number, now: number, start: number, pace: RatePace): number {
  const opens = start + pace.interval - pace.burst
  const next = Math.max(last + pace.interval, opens)
  return next > now + pace.burst ? opens : next
}
