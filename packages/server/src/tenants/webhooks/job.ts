/** Removes deliveries that ended a week ago, and ended deliveries beyond the newest 10,000 of an endpoint. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { deliveryLog } from './delivery-log.ts'
import { endpointStore } from './store.ts'

const everyMs = 10 * 60 * 1000
const keptMs = 7 * 24 * 60 * 60 * 1000
const limits = { most: 10_000, limit: 500 }

export function deliveryJob(deps: Ground): Job {
  const { databases, clock } = deps
  const walk = databases.walk(everyMs)
  const run = () => runOnEach(walk(), (database) => removeOldDeliveries(database, clock.now()))
  return { name: 'remove old webhook deliveries', everyMs, run }
}

/** Returns true when none is left to remove. */
export async function removeOldDeliveries(
  database: Database,
  now: number,
  { most, limit } = limits,
): Promise<boolean> {
  const old = await database.write((tx) => deliveryLog(tx).forget(iso(now - keptMs), limit))
  let isAll = old < limit
  for (const endpoint of await endpointStore(database.read).everyone()) {
    const more = await database.write((tx) => deliveryLog(tx).trim(endpoint, { most, limit }))
    isAll &&= more < limit
  }
  return isAll
}
