/**
 * Buckets in the database, which processes share. A process draws several tokens with one statement and spends them
 * from memory, so most requests need no statement. Unspent tokens stay in memory: all processes together admit at most
 * their unspent tokens more than the limit.
 */
import type { Clock } from '@steward/base/time.ts'
import type { Verdict } from '../../ground/http/rate-limits.ts'
import type { Buckets } from './buckets.ts'
import { boundedBuckets } from './buckets.ts'
import type { RatePace } from './gcra.ts'
import { nextInvitation, roomIn, bucketStart } from './gcra.ts'

/** The tokens that a statement drew. Times are microseconds of the database's clock. */
export type Draw = { tokens: number; fullAt: number; now: number }

/** Draws up to `most` tokens. */
export type DrawTokens = (key: string, pace: RatePace, most: number) => Promise<Draw>

/** Tokens a draw: a twentieth of the limit. More tokens mean fewer statements, and more unspent tokens in a process. */
export const mostDrawn = ({ rate }: RatePace): number => Math.max(1, Math.floor(rate.limit / 20))

type DrawnBucket = {
  tokens: number
  fullAt: number
  invited: number
  /** Microseconds by which the clock of the database is ahead of ours. */
  ahead: number
  drawing?: Promise<void> | undefined
}

export function drawnBuckets(draw: DrawTokens, clock: Clock, most?: number): Buckets {
  const nowFor = ({ ahead }: DrawnBucket) => clock.now() * 1_000 + ahead
  const bucketOf = boundedBuckets<DrawnBucket>(
    () => ({ tokens: 0, fullAt: 0, invited: 0, ahead: 0 }),
    (bucket) => !bucket.drawing && bucket.fullAt <= nowFor(bucket),
    most,
  )

  async function drawInto(bucket: DrawnBucket, key: string, pace: RatePace): Promise<void> {
    const drawn = await draw(key, pace, mostDrawn(pace))
    bucket.tokens += drawn.tokens
    bucket.fullAt = drawn.fullAt
    bucket.ahead = drawn.now - clock.now() * 1_000
  }

  const roomOf = (bucket: DrawnBucket, pace: RatePace) =>
    roomIn(bucket.fullAt, nowFor(bucket), pace)

  const verdictOf = (bucket: DrawnBucket, pace: RatePace, isAdmitted: boolean): Verdict => {
    const now = nowFor(bucket)
    return {
      isAdmitted,
      rate: pace.rate,
      remaining: Math.min(bucket.tokens + roomIn(bucket.fullAt, now, pace), pace.rate.limit),
      fullAtMs: Math.max(bucket.fullAt, now) / 1_000,
      retryMs: isAdmitted ? 0 : (bucket.invited - now) / 1_000,
    }
  }

  /** Undefined when the database must be asked. */
  function decide(bucket: DrawnBucket, pace: RatePace): Verdict | undefined {
    if (bucket.tokens > 0) {
      bucket.tokens--
      return verdictOf(bucket, pace, true)
    }
    if (roomOf(bucket, pace) > 0) return undefined
    const now = nowFor(bucket)
    bucket.fullAt = bucketStart(bucket.fullAt, now, pace)
    bucket.invited = nextInvitation(bucket.invited, now, bucket.fullAt, pace)
    return verdictOf(bucket, pace, false)
  }

  /** Concurrent requests share a draw, and draw again when its tokens are spent. */
  async function takeWhenDrawn(bucket: DrawnBucket, key: string, pace: RatePace): Promise<Verdict> {
    for (;;) {
      bucket.drawing ??= drawInto(bucket, key, pace).finally(() => (bucket.drawing = undefined))
      await bucket.drawing
      const verdict = decide(bucket, pace)
      if (verdict) return verdict
    }
  }

  return {
    take(key, pace) {
      const bucket = bucketOf(key)
      return decide(bucket, pace) ?? takeWhenDrawn(bucket, key, pace)
    },
    look(key, pace) {
      const bucket = bucketOf(key)
      return verdictOf(bucket, pace, bucket.tokens > 0 || roomOf(bucket, pace) > 0)
    },
  }
}
