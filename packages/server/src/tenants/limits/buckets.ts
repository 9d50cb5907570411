/** Token buckets, in this process alone or shared with peers. */
import type { Verdict } from '../../ground/http/rate-limits.ts'
import type { RatePace } from './gcra.ts'

export type Buckets = {
  /** Takes a token if the bucket has one. Returns a promise only when the database must be asked. */
  take(key: string, pace: RatePace): Verdict | Promise<Verdict>
  /** Returns what `take` would return next, and takes nothing. An estimate for shared buckets. */
  look(key: string, pace: RatePace): Verdict
}

/** Bound of buckets in memory: more than tenants and addresses that are busy at the same time. */
export const mostBuckets = 50_000

/** Buckets by key, at most `most`. Full buckets are dropped first, because a new one is full too; then the oldest. */
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
