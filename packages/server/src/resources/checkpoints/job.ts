/** Removes checkpoints of sessions that have been idle for longer than checkpoints are kept. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { markAll, pastStore } from './past-checkpoints.ts'
import { checkpointStore, keysOf } from './store.ts'
import { findHold } from '../../ground/database/holds.ts'

const everyMs = 10 * 60 * 1000
const atOnce = 100

export function checkpointJob(deps: Ground & { keptMs: number }): Job {
  const { databases, keptMs, clock } = deps
  const walk = databases.walk(everyMs)
  const run = () =>
    runOnEach(walk(), (database) => removeOldCheckpoints(database, clock.now(), keptMs))
  return { name: 'remove old checkpoints', everyMs, run }
}

/** Returns true when no old checkpoints are left. The working folders stay. */
export async function removeOldCheckpoints(
  database: Database,
  now: number,
  keptMs: number,
): Promise<boolean> {
  const before = iso(now - keptMs)
  const old = await checkpointStore(database.read).takenBefore(before, atOnce)
  for (const { tenant_id, session_id } of old) {
    await database.write(async (tx) => {
      const rows = checkpointStore(tx)
      const row = await rows.findForUpdate(tenant_id, session_id)
      if (!row?.taken_at || row.taken_at >= before) return
      if (await findHold(tx, tenant_id, session_id)) return
      await markAll(tx, tenant_id, keysOf(row), now)
      await pastStore(tx).remove(tenant_id, session_id, now)
      await rows.put(tenant_id, session_id, null, before)
    })
  }
  return old.length < atOnce
}
