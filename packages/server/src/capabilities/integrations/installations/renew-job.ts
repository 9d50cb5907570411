/** Renews tokens of apps, for calls of agents and for the repositories of running sessions. */
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Database } from '../../../ground/database/database.ts'
import { runOnEach } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { forEachDue } from '../each.ts'
import type { Due, ExternalThreadRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { listenToTokens } from '../topics.ts'
import { isInUse } from '../../../tenants/workspaces/in-use.ts'
import { rows } from '../../../ground/database/rows.ts'

/** Poll interval. A notification normally finds the vaults whose token has been replaced. */
const everyMs = 2 * 60_000
const mostDue = 200
const longestPauseMs = 30 * 60_000

const pauseMs = (failures: number): number =>
  Math.min(everyMs * 2 ** (failures - 1), longestPauseMs)

export function renewJob({
  databases,
  bus,
  clock,
  log,
  renewAccess,
  renewCheckout,
}: Ground & {
  renewAccess: (context: JobContext, publication: PublicationRow) => Promise<unknown>
  renewCheckout: (context: JobContext, thread: ExternalThreadRow) => Promise<unknown>
}): Job {
  /**
   * Failed renewals by the id of their row. They pause for growing times, because otherwise other renewals would wait
   * behind them.
   */
  const resting = new Map<string, { failures: number; untilMs: number }>()

  async function renew(
    { tenant_id: tenant, id }: Due,
    row: { publication_id: string } | { thread_id: string },
    work: () => Promise<unknown>,
  ): Promise<void> {
    if (!(await isInUse(databases, tenant))) {
      resting.set(id, { failures: 0, untilMs: clock.now() + longestPauseMs })
      return
    }
    try {
      await work()
      resting.delete(id)
    } catch (error) {
      const failures = (resting.get(id)?.failures ?? 0) + 1
      resting.set(id, { failures, untilMs: clock.now() + pauseMs(failures) })
      log.warn('a token of an app could not be renewed; it is tried again', { error, ...row })
    }
  }

  /**
   * The ids that pause now. Ids without an attempt for a while are forgotten: they were deleted, or are renewed
   * elsewhere.
   */
  function restingNow(now: number): string[] {
    for (const [id, { untilMs }] of resting) if (untilMs < now - longestPauseMs) resting.delete(id)
    return [...resting].filter(([, { untilMs }]) => untilMs > now).map(([id]) => id)
  }

  async function renewAll(db: Database, signal: AbortSignal): Promise<boolean> {
    const store = integrationStore(db.read)
    const now = clock.now()
    const asked = { by: now, resting: restingNow(now) }
    const publications = await store.publicationsToRenew(asked, mostDue)
    await forEachDue(publications, signal, (due) =>
      renew(due, { publication_id: due.id }, async () => {
        const row = await rows(db.read, 'publications').get(due.tenant_id, due.id)
        await renewAccess({ db, tenant: due.tenant_id, signal }, row)
      }),
    )
    const threads = await store.threadsToRenew(asked, mostDue)
    await forEachDue(threads, signal, (due) =>
      renew(due, { thread_id: due.id }, async () => {
        const row = await rows(db.read, 'integration_threads').find(due.tenant_id, due.id)
        if (row) await renewCheckout({ db, tenant: due.tenant_id, signal }, row)
      }),
    )
    return true
  }

  return {
    name: 'renew the tokens of apps for agents',
    everyMs,
    run: (signal) => runOnEach(databases.due(), (db) => renewAll(db, signal)),
    start: (runNow) => listenToTokens(bus, runNow),
  }
}
