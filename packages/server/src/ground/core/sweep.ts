/** What nobody waits for, done again and again beside everything else. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'

export type Sweep = { close(): Promise<void> }

/**
 * Passes until it is closed. A pass is bounded and says whether that was all: another follows at once where it was not. One
 * that throws is logged, and tried again after the pause.
 */
export function sweeping(
  what: string,
  pass: () => Promise<boolean>,
  { pauseMs, clock, log }: { pauseMs: number; clock: Clock; log: Log },
): Sweep {
  const closing = new AbortController()
  async function passes(): Promise<void> {
    while (!closing.signal.aborted) {
      const isAll = await pass().catch((error: unknown) => {
        log.error(`${what} could not be swept`, { error })
        return true
      })
      if (isAll) await clock.sleep(pauseMs, closing.signal)
    }
  }
  const done = passes()
  return {
    async close() {
      closing.abort()
      await done
    },
  }
}
