/** Removes versions that are older than they are kept, and the rest of deleted stores after a crash. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { removeRows } from './remove.ts'
import { memoryStoreStore } from './store.ts'
import { versionStore } from './versions.ts'

const everyMs = 10 * 60 * 1000
const versionsAtOnce = 250
const storesAtOnce = 20

export function memoryJob(deps: Ground): Job {
  const { databases, clock } = deps
  const walk = databases.walk(everyMs)
  const run = () => runOnEach(walk(), (database) => removeOldMemories(database, clock.now()))
  return { name: 'remove old memories', everyMs, run }
}

/** Returns true when nothing is left to remove. */
export async function removeOldMemories(database: Database, now: number): Promise<boolean> {
  const stores = await memoryStoreStore(database.read).deleted(storesAtOnce)
  for (const { tenant_id, id } of stores) await removeRows(database, tenant_id, id)
  const expired = await database.write((tx) => versionStore(tx).expire(iso(now), versionsAtOnce))
  return stores.length < storesAtOnce && expired < versionsAtOnce
}
