/** Settles overdue work items (expired leases and reservations, unclaimed items) and removes old rows of pollers and stopped items. */
import type { Bus } from '../../ground/bus/bus.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { onEvery } from '../../ground/database/database.ts'
import { newEvents, notify } from '../log/topics.ts'
import { settleOverdue } from './queue.ts'
import { workStore } from './store.ts'
import { notifyPollers } from './topics.ts'

const everyMs = 5_000
const limit = 50
/** Longer than any query looks back for a worker. */
const pollersKeptMs = 5 * 60 * 1000
const stoppedKeptMs = 30 * 24 * 60 * 60 * 1000

export function workJob(deps: {
  databases: Databases
  bus: Bus
  clock: Clock
  unclaimedMs: number
}): Job {
  const { databases, bus, clock, unclaimedMs } = deps
  const run = () =>
    onEvery(databases.due(), async (database) => {
      const now = clock.now()
      const settled = await database.write((tx) => settleOverdue(tx, { now, unclaimedMs, limit }))
      for (const session of settled.told) notify(bus, session, newEvents)
      for (const environment of settled.queued) notifyPollers(bus, { environment })
      const isTidy = await database.write(async (tx) => {
        await workStore(tx).forgetPollers(now - pollersKeptMs)
        return workStore(tx).forgetStopped(now - stoppedKeptMs, limit)
      })
      return settled.isAll && isTidy
    })
  return { name: 'end overdue work', everyMs, run }
}
