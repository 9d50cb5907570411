/** What nobody waits for: versions that are older than they are kept, and what a crash left of deleted stores. */
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { removeRows } from './remove.ts'
import { memoryStoreStore } from './store.ts'
import { versionStore } from './versions.ts'

const pauseMs = 10 * 60 * 1000
const versionsAtOnce = 250
const storesAtOnce = 20

/** Sweeps until it is closed. */
export function memorySweep(deps: { databases: Databases; clock: Clock; log: Log }): Sweep {
  const { databases, clock } = deps
  const pass = async () => {
    let isAll = true
    for (const database of databases.all())
      isAll = (await sweepMemories(database, clock.now())) && isAll
    return isAll
  }
  return sweeping('memory stores', pass, { pauseMs, ...deps })
}

/** Whether that was all. */
export async function sweepMemories(database: Database, now: number): Promise<boolean> {
  const stores = await memoryStoreStore(database.read).deleted(storesAtOnce)
  for (const { tenant_id, id } of stores) await removeRows(database, tenant_id, id)
  const expired = await database.write((tx) => versionStore(tx).expire(iso(now), versionsAtOnce))
  return stores.length < storesAtOnce && expired < versionsAtOnce
}
