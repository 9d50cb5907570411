/** The rows of deleted sessions go some time after the deletion, in parts that hold up no other writer. */
import { checkpointStore } from '../resources/checkpoints/store.ts'
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../ground/core/sweep.ts'
import { sweeping } from '../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases, Queries } from '../ground/database/database.ts'
import { removeCalls } from './log/calls.ts'
import { removeOldest } from './log/log.ts'
import { stdioStore } from './stdio-servers/store.ts'
import { removeFilesOf } from './resources/files.ts'
import { sessionStore } from './rows/sessions.ts'

const pauseMs = 60_000
const sessionsAtOnce = 50
/** Of one transaction: rows, and bytes of events, which may have many megabytes each. */
const part = { limit: 250, bytes: 1024 * 1024 }

/** Sweeps until it is closed. */
export function sessionSweep(deps: {
  databases: Databases
  deletedMs: number
  clock: Clock
  log: Log
}): Sweep {
  const { databases, clock, deletedMs } = deps
  const pass = async () => {
    let isAll = true
    for (const database of databases.all())
      isAll = (await sweepDeleted(database, clock.now(), deletedMs)) && isAll
    return isAll
  }
  return sweeping('deleted sessions', pass, { pauseMs, ...deps })
}

/** Whether that was all. A session whose folder is still there is left to the runner that removes it. */
export async function sweepDeleted(
  database: Database,
  now: number,
  deletedMs: number,
): Promise<boolean> {
  const before = iso(now - deletedMs)
  const found = await sessionStore(database.read).deletedBefore(before, sessionsAtOnce)
  for (const { tenant_id, id } of found) {
    const removePart = async (tx: Queries) =>
      (await removeOldest(tx, tenant_id, id, part)) &&
      (await removeCalls(tx, tenant_id, id, part.limit))
    let isGone = false
    while (!isGone) isGone = await database.write(removePart)
    await database.write(async (tx) => {
      await removeFilesOf(tx, { tenant: tenant_id, session: id, now })
      await checkpointStore(tx).remove(tenant_id, id, now)
      await stdioStore(tx).remove(tenant_id, id)
      await sessionStore(tx).forget(tenant_id, id)
    })
  }
  return found.length < sessionsAtOnce
}
