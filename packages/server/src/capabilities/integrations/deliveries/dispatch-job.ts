/**
 * Gives due deliveries to sessions. Every process looks for due deliveries; transactions decide which process gives
 * one.
 */
import type { Job } from '../../../ground/core/time/jobs.ts'
import { startFound } from '../../../ground/core/fairness/work-slots.ts'
import type { Database } from '../../../ground/database/database.ts'
import { runOnEach } from '../../../ground/database/database.ts'
import { createNearestAlarm } from '../../../ground/core/time/nearest-alarm.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { DispatchOutcome } from './dispatch.ts'
import type { DueDelivery } from '../store.ts'
import { integrationStore } from '../store.ts'
import { listenToIntegrations } from '../topics.ts'
import { createWorkInFlight } from '../work-in-flight.ts'
import type { JobContext } from '../job-context.ts'

/**
 * Poll interval. A notification normally finds a due delivery; polls are for lost notifications and for processes that
 * died.
 */
const everyMs = 60_000
const mostDue = 200
/** The wait after which the job tries a delivery again, when another process took it or giving it failed. */
const heldMs = 5_000

export function dispatchJob({
  databases,
  bus,
  clock,
  log,
  dispatch,
}: Ground & {
  dispatch: (context: JobContext, id: string) => Promise<DispatchOutcome>
}): Job {
  let lookNow = (): void => {}
  const flight = createWorkInFlight((_, isAwaited) => {
    if (isAwaited) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function dispatchOne(db: Database, due: DueDelivery, signal: AbortSignal): Promise<void> {
    const { tenant_id: tenant, id } = due
    const outcome = await dispatch({ db, tenant, signal }, id).catch((error: unknown) => {
      log.error('a delivery could not be given to a session; it is tried again', { error })
      return { kind: 'waits' } as const
    })
    if (outcome.kind === 'ended') return
    const at = outcome.kind === 'again' ? outcome.at : clock.now() + heldMs
    if (outcome.kind === 'waits') flight.restUntil(id, at)
    alarm.set(at, signal)
  }

  async function startAll(db: Database, signal: AbortSignal): Promise<void> {
    function due() {
      const now = clock.now()
      return integrationStore(db.read).dueDeliveries(
        { by: now, skipped: flight.skipped(now) },
        mostDue,
      )
    }
    await startFound(
      mostDue,
      due,
      (each) => !signal.aborted && flight.start(each, () => dispatchOne(db, each, signal)),
    )
  }

  return {
    name: 'give deliveries to sessions',
    everyMs,
    run: (signal) =>
      runOnEach(databases.due(), async (db) => {
        await startAll(db, signal)
        return true
      }),
    start(runNow) {
      lookNow = runNow
      const unsubscribe = listenToIntegrations(bus, runNow)
      return async () => {
        unsubscribe()
        alarm.stop()
        await flight.end()
      }
    },
  }
}
