/**
 * Gives due deliveries to sessions. Every process looks for due deliveries; transactions decide which process gives
 * one.
 */
import type { Job } from '../../../ground/core/time/jobs.ts'
import { createDueWork } from '../../../ground/due-work.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { DispatchOutcome } from './dispatch.ts'
import type { DueDelivery } from '../store.ts'
import { integrationStore } from '../store.ts'
import { mostDue, publicationSlots } from '../slots.ts'
import { listenToIntegrations } from '../topics.ts'
import type { JobContext } from '../job-context.ts'

/** The wait after which the job tries a delivery again, when another process took it or giving it failed. */
const heldMs = 5_000

export function dispatchJob({
  dispatch,
  ...ground
}: Ground & {
  dispatch: (context: JobContext, id: string) => Promise<DispatchOutcome>
}): Job {
  const { bus, clock } = ground
  return createDueWork<DueDelivery>(ground, {
    name: 'give deliveries to sessions',
    // A notification normally finds a due delivery; polls are for lost notifications and for processes that died.
    everyMs: 60_000,
    slots: publicationSlots,
    mostFound: mostDue,
    failedMs: heldMs,
    failure: {
      message: 'a delivery could not be given to a session; it is tried again',
      field: 'delivery_id',
    },
    listen: (look) => listenToIntegrations(bus, look),
    find: (db, skipped, limit) =>
      integrationStore(db.read).dueDeliveries({ by: clock.now(), skipped }, limit),
    async drive(db, { tenant_id: tenant, id }, signal) {
      const outcome = await dispatch({ db, tenant, signal }, id)
      if (outcome.kind === 'ended') return undefined
      if (outcome.kind === 'again') return { at: outcome.at }
      return { at: clock.now() + heldMs, isLeftOut: true }
    },
  })
}
