/** Continues turns that waited too long for the stdio servers of their worker, without those servers. */
import type { Job } from '../../ground/core/time/jobs.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { getHeadForUpdate } from '../log/head.ts'
import { appendEntries } from '../log/append.ts'
import { marginMs } from './readiness.ts'
import { stdioStore } from './store.ts'

const everyMs = 5_000
const limit = 50

export function stdioJob(deps: Ground): Job {
  const { databases, clock } = deps
  const run = () =>
    runOnEach(databases.due(), async (database) => {
      const found = await stdioStore(database.read).overdue(clock.now(), { marginMs, limit })
      for (const { tenant_id: tenant, session_id: session } of found) {
        await database.write(async (tx) => {
          const { awaits_stdio } = await getHeadForUpdate(tx, tenant, session)
          if (awaits_stdio === 1)
            await appendEntries(tx, tenant, session, [], { now: clock.now(), due: true })
        })
      }
      return found.length < limit
    })
  return { name: 'end waits for stdio servers', everyMs, run }
}
