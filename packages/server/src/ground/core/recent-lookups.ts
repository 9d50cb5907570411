/** Look-ups of callers by the hash of their credential, which many requests ask for at once. */
import type { Clock } from '@steward/base/time.ts'
import { shareLookups } from './shared-lookups.ts'

const cachedMs = 1_000
const mostCached = 10_000

export type RecentLookups<Found> = {
  find(hash: string): Promise<Found | undefined>
  forget(hash: string): void
  forgetAll(): void
}

/**
 * Alone, look-ups that happen at once share one query; an answer lasts a second, a failure not at all. With several
 * processes word of a revocation arrives late, so the database is asked after each request came.
 */
export function recentLookups<Found>(
  look: (hash: string) => Promise<Found | undefined>,
  { clock, isAlone }: { clock: Clock; isAlone: boolean },
): RecentLookups<Found> {
  const known = new Map<string, { until: number; found: Promise<Found | undefined> }>()
  const lookTogether = shareLookups(look)

  function find(hash: string): Promise<Found | undefined> {
    if (!isAlone) return lookTogether(hash)
    const now = clock.now()
    const cached = known.get(hash)
    if (cached && cached.until > now) return cached.found
    if (known.size >= mostCached) known.clear()
    const found = look(hash)
    found.catch(() => known.delete(hash))
    known.set(hash, { until: now + cachedMs, found })
    return found
  }

  return {
    find,
    forget: (hash) => void known.delete(hash),
    forgetAll: () => known.clear(),
  }
}
