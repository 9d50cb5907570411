/** Runs the deployments whose time has come. Every process looks; the transaction of a run decides which one runs it. */
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { onEvery } from '../../ground/database/database.ts'
import type { RunDeps } from './run.ts'
import { runDue } from './run.ts'
import type { DueDeployment } from './store.ts'
import { deploymentStore } from './store.ts'
import { listenToSchedules } from './topics.ts'

/** A look reads what comes due until the next one, which begins early for it. */
const everyMs = 30_000
/** Of one look. */
const mostDue = 200
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

  async function runAll(db: Database, signal: AbortSignal): Promise<boolean> {
    const now = clock.now()
    const coming = await deploymentStore(db.read).due(now + everyMs, mostDue)
    const isDue = ({ due_ms }: DueDeployment) => due_ms !== null && due_ms <= now
    const due = coming.filter(isDue)
    const next = coming.find((each) => !isDue(each))?.due_ms
    nearest = Math.min(nearest, next ?? Infinity)
    const workspaces = await workspacesOf([...new Set(due.map(({ tenant_id }) => tenant_id))])
    // Two processes seldom wait for each other's transactions when they go through the list in orders of their own.
    const left = due
      .filter(({ tenant_id }) => workspaces.has(tenant_id))
      .map((each) => ({ each, place: Math.random() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ each }) => each)
    async function work(): Promise<void> {
      for (let next = left.pop(); next && !signal.aborted; next = left.pop()) {
        const { tenant_id: tenant, id } = next
        const isArchived = workspaces.get(tenant) ?? false
        await runDue(deps, { db, tenant }, id, { isArchived }).catch((error: unknown) => {
          log.error('a deployment could not run; it is tried again', { error, deployment_id: id })
        })
      }
    }
    await Promise.all(Array.from({ length: together }, work))
    return due.length < mostDue
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
