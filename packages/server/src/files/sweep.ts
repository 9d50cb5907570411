/** What nobody waits for: bytes of files that expired, were deleted, or never became files. */
import type { Keeping } from '../blobs/keeping.ts'
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { sweepExpired } from './remove.ts'

const pauseMs = 30_000

/** Sweeps until it is closed; a pass is bounded, and another follows at once while there is more. */
export function fileSweep(deps: {
  databases: Databases
  clock: Clock
  keeping: Keeping
  log: Log
}): { close(): Promise<void> } {
  const { clock, keeping, log } = deps
  const closing = new AbortController()

  async function passes(): Promise<void> {
    while (!closing.signal.aborted) {
      let isAll = true
      try {
        const expired = await sweepExpired(deps)
        const swept = await keeping.sweep()
        for (const error of swept.failures) log.warn('bytes could not be removed yet', { error })
        isAll = expired && swept.isAll
      } catch (error) {
        log.error('files could not be swept', { error })
      }
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
