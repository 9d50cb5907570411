/** Token buckets of this process alone. */
import type { Clock } from '@steward/base/time.ts'
import type { Verdict } from '../../ground/http/rate-limits.ts'
import type { Buckets } from './buckets.ts'
import { boundedBuckets } from './buckets.ts'
import type { RatePace } from './gcra.ts'
import { nextInvitation, roomIn, bucketStart } from './gcra.ts'

/** Times in microseconds. */
type MemoryBucket = { fullAt: number; invited: number }

export function bucketsInMemory(clock: Clock, most?: number): Buckets {
  const bucketOf = boundedBuckets<MemoryBucket>(
    () => ({ fullAt: 0, invited: 0 }),
    ({ fullAt }) => fullAt <= clock.now() * 1_000,
    most,
  )

  const verdictOf = (
    { fullAt, invited }: MemoryBucket,
    now: number,
    pace: RatePace,
    isAdmitted: boolean,
  ) => ({
    isAdmitted,
    rate: pace.rate,
    remaining: roomIn(fullAt, now, pace),
    fullAtMs: Math.max(fullAt, now) / 1_000,
    retryMs: isAdmitted ? 0 : (invited - now) / 1_000,
  })

  return {
    take(key, pace): Verdict {
      const bucket = bucketOf(key)
      const now = clock.now() * 1_000
      const start = bucketStart(bucket.fullAt, now, pace)
      const isAdmitted = roomIn(start, now, pace) > 0
      bucket.fullAt = isAdmitted ? start + pace.interval : start
      if (!isAdmitted) bucket.invited = nextInvitation(bucket.invited, now, start, pace)
      return verdictOf(bucket, now, pace, isAdmitted)
    },
    look(key, pace) {
      const now = clock.now() * 1_000
      const bucket = bucketOf(key)
      return verdictOf(bucket, now, pace, roomIn(bucket.fullAt, now, pace) > 0)
    },
  }
}
