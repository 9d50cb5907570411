/**
 * Buckets in the database, which processes share. A process draws several tokens by one statement and spends them without
 * another: most requests ask nothing of the database. Tokens that were drawn and not spent are kept, so that all processes
 * together admit at most what they hold more than the limit.
 */
import type { Clock } from '@steward/base/time.ts'
import type { Verdict } from '../../ground/http/rate-limits.ts'
import type { Buckets } from './buckets.ts'
import { boundedBuckets } from './buckets.ts'
import type { Pace } from './gcra.ts'
import { nextInvitation, roomIn, startOf } from './gcra.ts'

/** What a statement has drawn; times in microseconds of the database's clock. */
export type Draw = { tokens: number; fullAt: number; now: number }

/** Draws up to `most` tokens. */
export type DrawTokens = (key: string, pace: Pace, most: number) => Promise<Draw>

/** A twentieth of the limit: the larger the part, the fewer statements, and the more a process may hold unspent. */
export const mostDrawn = ({ rate }: Pace): number => Math.max(1, Math.floor(rate.limit / 20))

type Bucket = {
  tokens: number
  fullAt: number
  invited: number
  /** How far the clock of the database is ahead of ours. */
  ahead: number
  drawing?: Promise<void> | undefined
}

export function drawnBuckets(draw: DrawTokens, clock: Clock, most?: number): Buckets {
  const nowFor = ({ ahead }: Bucket) => clock.now() * 1_000 + ahead
  const bucketOf = boundedBuckets<Bucket>(
    () => ({ tokens: 0, fullAt: 0, invited: 0, ahead: 0 }),
    (bucket) => !bucket.drawing && bucket.fullAt <= nowFor(bucket),
    most,
  )

  async function drawInto(bucket: Bucket, key: string, pace: Pace): Promise<void> {
    const drawn = await draw(key, pace, mostDrawn(pace))
    bucket.tokens += drawn.tokens
    bucket.fullAt = drawn.fullAt
    bucket.ahead = drawn.now - clock.now() * 1_000
  }

  const roomOf = (bucket: Bucket, pace: Pace) => roomIn(bucket.fullAt, nowFor(bucket), pace)

  const verdictOf = (bucket: Bucket, pace: Pace, isAdmitted: boolean): Verdict => {
    const now = nowFor(bucket)
    return {
      isAdmitted,
      rate: pace.rate,
      remaining: Math.min(bucket.tokens + roomIn(bucket.fullAt, now, pace), pace.rate.limit),
      fullAtMs: Math.max(bucket.fullAt, now) / 1_000,
      retryMs: isAdmitted ? 0 : (bucket.invited - now) / 1_000,
    }
  }

  /** Undefined where only the database knows. */
  function decide(bucket: Bucket, pace: Pace): Verdict | undefined {
    if (bucket.tokens > 0) {
      bucket.tokens--
      return verdictOf(bucket, pace, true)
    }
    if (roomOf(bucket, pace) > 0) return undefined
    const now = nowFor(bucket)
    bucket.fullAt = startOf(bucket.fullAt, now, pace)
    bucket.invited = nextInvitation(bucket.invited, now, bucket.fullAt, pace)
    return verdictOf(bucket, pace, false)
  }

  /** Requests that wait at the same time share a draw, and draw again when others have spent it. */
  async function takeWhenDrawn(bucket: Bucket, key: string, pace: Pace): Promise<Verdict> {
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
