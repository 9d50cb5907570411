/** Last uses of keys: collected in memory and written by a job, so that a request writes nothing for them. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { runAudited, jobCall } from '../../ground/core/audited-call.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Databases } from '../../ground/database/database.ts'
import { apiKeyStore } from './store.ts'

const mostAtOnce = 500

export function keyUsesJob({
  databases,
  clock,
  uses,
}: {
  databases: Databases
  clock: Clock
  uses: Set<string>
}): Job {
  return {
    name: 'note uses of keys',
    everyMs: 10 * minuteMs,
    async run() {
      const some = [...uses].slice(0, mostAtOnce)
      if (some.length === 0) return true
      for (const id of some) uses.delete(id)
      await runAudited(jobCall('api_key.first_use'), () =>
        databases.control.write((tx) => apiKeyStore(tx).noteUses(some, clock.now())),
      )
      return uses.size === 0
    },
  }
}
