/** What nobody asks for: leases and reservations that ran out, work that nobody takes, pollers long gone. */
import type { Bus } from '../../ground/bus/bus.ts'
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { ring, say } from '../log/topics.ts'
import { settleOverdue } from './queue.ts'
import { workStore } from './store.ts'
import { wakePollers } from './topics.ts'

const pauseMs = 5_000
const limit = 50
/** Longer than anyone asks whether a worker is there. */
const pollersKeptMs = 5 * 60 * 1000
const stoppedKeptMs = 30 * 24 * 60 * 60 * 1000

/** Sweeps until it is closed. */
export function workSweep(deps: {
  databases: Databases
  bus: Bus
  clock: Clock
  log: Log
  unclaimedMs: number
}): Sweep {
  const { databases, bus, clock, unclaimedMs } = deps
  const pass = async () => {
    let isAll = true
    for (const database of databases.all()) {
      const now = clock.now()
      const settled = await database.write((tx) => settleOverdue(tx, { now, unclaimedMs, limit }))
      for (const session of settled.told) say(bus, session, ring)
      for (const environment of settled.queued) wakePollers(bus, { environment })
      const isTidy = await database.write(async (tx) => {
        await workStore(tx).forgetPollers(now - pollersKeptMs)
        return workStore(tx).forgetStopped(now - stoppedKeptMs, limit)
      })
      isAll &&= settled.isAll && isTidy
    }
    return isAll
  }
  return sweeping('work', pass, { pauseMs, ...deps })
}
