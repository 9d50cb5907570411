/** What nobody waits for: deliveries that ended long ago, and those beyond what is kept of one endpoint. */
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { deliveryLog } from './log.ts'
import { endpointStore } from './store.ts'

const pauseMs = 10 * 60 * 1000
const keptMs = 7 * 24 * 60 * 60 * 1000
const limits = { most: 10_000, limit: 500 }

/** Sweeps until it is closed. */
export function webhookSweep(deps: { databases: Databases; clock: Clock; log: Log }): Sweep {
  const { databases, clock } = deps
  const pass = async () => {
    let isAll = true
    for (const database of databases.all())
      isAll = (await sweepDeliveries(database, clock.now())) && isAll
    return isAll
  }
  return sweeping('webhook deliveries', pass, { pauseMs, ...deps })
}

/** Whether that was all. */
export async function sweepDeliveries(
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
