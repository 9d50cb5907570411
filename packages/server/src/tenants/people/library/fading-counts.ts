/** Counts by key of which one is forgotten each minute. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'

const mostKeys = 20_000

type FadingCount = { count: number; atMs: number }

/** In memory, at most `most` keys: a new key takes the place of the one that was counted longest ago. */
export function fadingCounts(clock: Pick<Clock, 'now'>, most = mostKeys) {
  const counts = new Map<string, FadingCount>()

  function get(key: string): number {
    const found = counts.get(key)
    return found ? Math.max(0, found.count - (clock.now() - found.atMs) / minuteMs) : 0
  }

  return {
    get,
    add(key: string): void {
      const count = get(key) + 1
      counts.delete(key)
      for (const oldest of counts.keys().take(counts.size >= most ? 1 : 0)) counts.delete(oldest)
      counts.set(key, { count, atMs: clock.now() })
    },
  }
}
