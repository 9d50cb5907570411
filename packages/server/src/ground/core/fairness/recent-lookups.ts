/** Look-ups of callers by the hash of their credential. Many requests look up the same one at once. */
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
 * `isAlone`: the only process. Answers are cached for a second, failures are not. With several processes a revocation
 * can arrive late, so every request gets an answer that is newer than itself; requests at the same time share a query.
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
