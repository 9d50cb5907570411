/** Jobs of the audit: chain new lines, remove old ones. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { auditLineWritten } from '../../ground/database/audited-database.ts'
import type { Database } from '../../ground/database/database.ts'
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import { chainAll, moveLines } from './chain.ts'
import { removeOldAudit } from './retention.ts'
import type { Trail } from './trails/trails.ts'
import { controlTrails } from './trails/trails.ts'
import type { RetentionDeps } from './retention.ts'

/** Delay from a line to the unit that chains it together with the lines that follow. */
const chainAfterMs = 1_000

export const auditJobs = (deps: RetentionDeps): Job[] => [chainJob(deps), retentionJob(deps)]

const retentionMs = 60 * minuteMs

const retentionJob = (deps: RetentionDeps): Job => ({
  name: 'remove old audit records',
  everyMs: retentionMs,
  run: removeOldAudit(deps, retentionMs),
})

/** The next run, in any process, finds the lines of a process that died. */
function chainJob({ databases, clock, keys }: RetentionDeps): Job {
  return {
    name: 'chain the audit',
    everyMs: minuteMs,
    async run() {
      const failures: unknown[] = []
      const chained = new Set<Database>()
      async function chain(database: Database, some?: readonly Trail[]): Promise<void> {
        if (chained.has(database)) return
        chained.add(database)
        await chainAll({ database, keys, now: () => clock.now(), ...(some && { some }) })
      }
      await collectFailure(failures, () => moveLines(databases))
      await collectFailure(failures, () =>
        chain(databases.control, databases.isShared ? undefined : controlTrails),
      )
      for await (const database of databases.due())
        await collectFailure(failures, () => chain(database))
      throwFailures(failures)
      return true
    },
    start(runNow) {
      const ended = new AbortController()
      let isDue = false
      async function chainSoon(): Promise<void> {
        if (isDue) return
        isDue = true
        await clock.sleep(chainAfterMs, ended.signal)
        isDue = false
        runNow()
      }
      const stop = auditLineWritten.listen(
        () => void chainSoon(),
        () => {},
      )
      return () => {
        stop()
        ended.abort()
      }
    },
  }
}
