/** Versions that are older than they are kept. */
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { iso } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { versionStore } from './versions.ts'

/** behaviours.md 1.15 */
const keptMs = 30 * 24 * 60 * 60 * 1000
const pauseMs = 60 * 60 * 1000

/** Sweeps until it is closed: a bounded number at once, and another pass directly while there are more. */
export function versionSweep({
  databases,
  clock,
  log,
}: {
  databases: Databases
  clock: Clock
  log: Log
}): { close(): Promise<void> } {
  const closing = new AbortController()

  async function passes(): Promise<void> {
    while (!closing.signal.aborted) {
      let gone = 0
      try {
        for (const database of databases.all())
          gone += await database.write((tx) => versionStore(tx).expire(iso(clock.now() - keptMs)))
      } catch (error) {
        log.error('old memory versions could not be swept', { error })
      }
      if (gone === 0) await clock.sleep(pauseMs, closing.signal)
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
