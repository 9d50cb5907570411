/** Where buckets lie: in this process alone, or shared with others. */
import type { Verdict } from '../../ground/http/rate-limits.ts'
import type { Pace } from './gcra.ts'

export type Buckets = {
  /** Takes a token where there is one. No promise where the answer is at hand. */
  take(key: string, pace: Pace): Verdict | Promise<Verdict>
  /** Says what `take` would say next, and takes nothing; for buckets of other processes an estimate. */
  look(key: string, pace: Pace): Verdict
}

/** More tenants and addresses than are busy at the same time. */
export const mostBuckets = 50_000

/** Buckets by their keys, within a bound: full ones are as good as none, and after those the oldest are forgotten. */
export function boundedBuckets<Bucket>(
  create: () => Bucket,
  isFull: (bucket: Bucket) => boolean,
  most = mostBuckets,
): (key: string) => Bucket {
  const buckets = new Map<string, Bucket>()

  function makeRoom(): void {
    for (const [key, bucket] of buckets) if (isFull(bucket)) buckets.delete(key)
    const surplus = buckets.size - Math.floor(most * 0.9)
    for (const key of buckets.keys().take(Math.max(surplus, 0))) buckets.delete(key)
  }

  return (key) => {
    const known = buckets.get(key)
    if (known) return known
    if (buckets.size >= most) makeRoom()
    const made = create()
    buckets.set(key, made)
    return made
  }
}
