/**
 * Runs the deployments whose time has come. Every process looks, and claims some at a time; the transaction of a run decides which
 * process runs it.
 */
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { onEvery } from '../../ground/database/database.ts'
import type { RunDeps } from './run.ts'
import { runDue } from './run.ts'
import { deploymentStore } from './store.ts'
import { listenToSchedules } from './topics.ts'

/** A look reads what comes due until the next one, which begins early for it. */
const everyMs = 30_000
/** Of one look. */
const mostDue = 1_000
/** Of one claim. */
const batch = 5
/** In milliseconds. What a process has claimed and not run when it dies is due again so much later. */
const claimMs = 5_000
/** At once, so that schedules neither wait for each other nor take the server from its callers. */
const together = 8

export function deploymentJob(deps: RunDeps & { databases: Databases }): Job {
  const { databases, bus, clock, log } = deps

  /** Whether each is archived; those that are deleted run nothing more, and are left out. */
  async function workspacesOf(tenants: readonly string[]): Promise<Map<string, boolean>> {
    if (tenants.length === 0) return new Map()
    const found = await databases.control.read
      .selectFrom('workspaces')
      .select(['id', 'archived_at'])
      .where('id', 'in', tenants)
      .where('deleted_at', 'is', null)
      .execute()
    return new Map(found.map(({ id, archived_at }) => [id, archived_at !== null]))
  }

  /** Ends the wait for the next time that is known. */
  let waiting = new AbortController()
  let runNow = () => {}
  let nearest = Infinity

  function runAt(time: number, signal: AbortSignal): void {
    waiting.abort()
    waiting = new AbortController()
    const either = AbortSignal.any([waiting.signal, signal])
    const passed = clock.sleep(Math.max(time - clock.now(), 0), either)
    void passed.then(() => either.aborted || runNow())
  }

  /** Returns how many were claimed. */
  async function runBatch(db: Database): Promise<number> {
    const now = clock.now()
    const claimed = await db.once((tx) => deploymentStore(tx).claimDue(now, now + claimMs, batch))
    const workspaces = await workspacesOf([...new Set(claimed.map((each) => each.tenant_id))])
    for (const each of claimed) {
      const isArchived = workspaces.get(each.tenant_id)
      if (isArchived === undefined) continue
      await runDue(deps, db, each, { isArchived }).catch((error: unknown) => {
        const { id } = each
        log.error('a deployment could not run; it is tried again', { error, deployment_id: id })
      })
    }
    return claimed.length
  }

  async function runAll(db: Database, signal: AbortSignal): Promise<boolean> {
    const due = await deploymentStore(db.read).dueTimes(clock.now(), mostDue)
    let left = due.length
    async function work(): Promise<void> {
      while (left > 0 && !signal.aborted) {
        left -= batch
        if ((await runBatch(db)) < batch) return
      }
    }
    await Promise.all(Array.from({ length: together }, work))
    // What another process has claimed is looked at again when its claim ends.
    const [next = Infinity] = await deploymentStore(db.read).dueTimes(clock.now() + everyMs, 1)
    nearest = Math.min(nearest, next)
    return next > clock.now()
  }

  return {
    name: 'run deployments',
    everyMs,
    async run(signal) {
      nearest = Infinity
      const isComplete = await onEvery(databases.due(), (db) => runAll(db, signal))
      if (nearest < Infinity) runAt(nearest, signal)
      return isComplete
    },
    start(now) {
      runNow = now
      const unsubscribe = listenToSchedules(bus, now)
      return () => {
        unsubscribe()
        waiting.abort()
      }
    },
  }
}
