/** Results that calls share for seconds, counted from the beginning of the run that gave them. */
import type { Clock } from '@steward/base/time.ts'

type SharedResult<Result> = { result: Promise<Result>; sinceMs: number; untilMs: number }

/** For this time no call runs again after a failure. */
const failedMs = 1_000
const mostKept = 10_000

/** A run that rejects is not kept. */
export function createShortMemory<Result extends { ok: boolean }>({
  clock,
  keepMs,
}: {
  clock: Clock
  keepMs: number
}) {
  const kept = new Map<string, SharedResult<Result>>()
  const closed = new AbortController()
  let isClearing = false

  function keep(key: string, result: Promise<Result>): void {
    const now = clock.now()
    const own: SharedResult<Result> = { result, sinceMs: now, untilMs: now + keepMs }
    kept.set(key, own)
    result.then(
      ({ ok }) => {
        if (!ok) own.untilMs = Math.min(own.untilMs, clock.now() + failedMs)
      },
      () => {
        if (kept.get(key) === own) kept.delete(key)
      },
    )
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break
      kept.delete(oldest)
    }
    void clearInTime()
  }

  /** A result leaves the memory in time although nobody asks for it. */
  async function clearInTime(): Promise<void> {
    if (isClearing) return
    isClearing = true
    while (kept.size > 0 && !closed.signal.aborted) {
      await clock.sleep(keepMs, closed.signal)
      for (const [key, { untilMs }] of kept) if (untilMs <= clock.now()) kept.delete(key)
    }
    isClearing = false
  }

  return {
    /** The kept result where it is younger than `youngerThanMs`, else that of a new run. */
    share(
      key: string,
      run: () => Promise<Result>,
      youngerThanMs: number = keepMs,
    ): Promise<Result> {
      const known = kept.get(key)
      const now = clock.now()
      if (known && known.untilMs > now && now - known.sinceMs < youngerThanMs) return known.result
      const result = run()
      if (!closed.signal.aborted) keep(key, result)
      return result
    },
    close(): void {
      closed.abort()
      kept.clear()
    },
  }
}
