/** What nobody waits for: versions that are older than they are kept, and what a crash left of deleted stores. */
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { iso } from '../core/time.ts'
import type { Database, Databases } from '../database/database.ts'
import { removeRows } from './remove.ts'
import { memoryStoreStore } from './store.ts'
import { versionStore } from './versions.ts'

const pauseMs = 10 * 60 * 1000
const versionsAtOnce = 250
const storesAtOnce = 20

/** Sweeps until it is closed; a pass is bounded, and another follows at once while there is more. */
export function memorySweep(deps: { databases: Databases; clock: Clock; log: Log }): {
  close(): Promise<void>
} {
  const { databases, clock, log } = deps
  const closing = new AbortController()

  async function passes(): Promise<void> {
    while (!closing.signal.aborted) {
      let isAll = true
      try {
        for (const database of databases.all())
          isAll = (await sweepMemories(database, clock.now())) && isAll
      } catch (error) {
        log.error('memory stores could not be swept', { error })
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

/** Whether that was all. */
export async function sweepMemories(database: Database, now: number): Promise<boolean> {
  const stores = await memoryStoreStore(database.read).deleted(storesAtOnce)
  for (const { tenant_id, id } of stores) await removeRows(database, tenant_id, id)
  const expired = await database.write((tx) => versionStore(tx).expire(iso(now), versionsAtOnce))
  return stores.length < storesAtOnce && expired < versionsAtOnce
}
