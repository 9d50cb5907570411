/** Gives due deliveries to sessions. Every process looks; transactions decide. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { createNearestAlarm } from './nearest-alarm.ts'
import type { DispatchOutcome } from './dispatch.ts'
import { eachOf } from './each.ts'
import { integrationStore } from './store.ts'
import { listenToIntegrations, notifyIntegrations } from './topics.ts'

/** What comes due is found by its notification. This is for a lost one, and for a process that died. */
const everyMs = 60_000
const mostDue = 200

export type DispatchJobDeps = {
  databases: Pick<Databases, 'due'>
  bus: Bus
  clock: Clock
  log: Log
  dispatch: (
    place: { db: Database; tenant: string; signal: AbortSignal },
    id: string,
  ) => Promise<DispatchOutcome>
}

export function dispatchJob({ databases, bus, clock, log, dispatch }: DispatchJobDeps): Job {
  let lookNow = (): void => {}
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function runAll(db: Database, signal: AbortSignal): Promise<boolean> {
    const due = await integrationStore(db.read).dueDeliveries(clock.now(), mostDue)
    let hasMoved = false
    await eachOf(due, signal, async ({ tenant_id: tenant, id }) => {
      const outcome = await dispatch({ db, tenant, signal }, id).catch((error: unknown) => {
        log.error('a delivery could not be given to a session; it is tried again', { error })
      })
      if (outcome?.kind === 'moved') hasMoved = true
      if (outcome?.kind === 'again') alarm.set(outcome.at, signal)
    })
    // The next of a thread may have its turn now. One that waits behind an attempt that has failed would be looked at without an end.
    if (hasMoved) notifyIntegrations(bus)
    return due.length < mostDue
  }

  return {
    name: 'give deliveries to sessions',
    everyMs,
    run: (signal) => runOnEach(databases.due(), (db) => runAll(db, signal)),
    start(runNow) {
      lookNow = runNow
      const stops = [listenToIntegrations(bus, runNow), alarm.stop]
      return () => stops.forEach((stop) => stop())
    },
  }
}
