/**
 * Settles overdue work items (expired leases and reservations, unclaimed items), and removes old rows of pollers and
 * stopped items.
 */
import type { Job } from '../../ground/core/time/jobs.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { settleOverdue } from './queue.ts'
import { workStore } from './store.ts'

const overdueEveryMs = 5_000
const oldEveryMs = 60_000
const limit = 50
/** Longer than any query looks back for a worker. */
const pollersKeptMs = 5 * 60 * 1000
const stoppedKeptMs = 30 * 24 * 60 * 60 * 1000

export const workJobs = (deps: Ground & { unclaimedMs: number }): Job[] => [
  overdueJob(deps),
  oldRowsJob(deps),
]

function overdueJob({ databases, clock, unclaimedMs }: Ground & { unclaimedMs: number }): Job {
  const run = () =>
    runOnEach(databases.due(), (database) => {
      const now = clock.now()
      return database.write((tx) => settleOverdue(tx, { now, unclaimedMs, limit }))
    })
  return { name: 'end overdue work', everyMs: overdueEveryMs, run }
}

function oldRowsJob({ databases, clock }: Ground): Job {
  const walk = databases.walk(oldEveryMs)
  const run = () =>
    runOnEach(walk(), (database) =>
      database.write(async (tx) => {
        const now = clock.now()
        await workStore(tx).forgetPollers(now - pollersKeptMs)
        return workStore(tx).forgetStopped(now - stoppedKeptMs, limit)
      }),
    )
  return { name: 'remove old rows of work', everyMs: oldEveryMs, run }
}
