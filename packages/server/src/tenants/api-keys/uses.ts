/** Last uses of keys: collected in memory and written by a job, so that a request writes nothing for them. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { runAudited, jobCall } from '../../ground/core/audited-call.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Databases } from '../../ground/database/database.ts'
import { apiKeyStore } from './store.ts'

const mostAtOnce = 500

export type KeyUses = {
  /** `isFirst`: the key was never used before, as far as its row says. Somebody may wait for the news. */
  note: (id: string, isFirst: boolean) => void
  /** Writes first uses at once, and all others every ten minutes. */
  job: Job
}

export function keyUses({ databases, clock }: { databases: Databases; clock: Clock }): KeyUses {
  const used = new Set<string>()
  let writeNow = (): void => {}
  return {
    note(id, isFirst) {
      used.add(id)
      if (isFirst) writeNow()
    },
    job: {
      name: 'note uses of keys',
      everyMs: 10 * minuteMs,
      start(runNow) {
        writeNow = runNow
        return () => {}
      },
      async run() {
        const some = [...used].slice(0, mostAtOnce)
        if (some.length === 0) return true
        for (const id of some) used.delete(id)
        await runAudited(jobCall('api_key.first_use'), () =>
          databases.control.write((tx) => apiKeyStore(tx).noteUses(some, clock.now())),
        )
        return used.size === 0
      },
    },
  }
}
