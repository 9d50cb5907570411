/** Runs due deployments: claims a batch of one database, runs it, and goes on with the next database. */
import type { Database } from '../../ground/database/database.ts'
import { runDue } from './run-deployment.ts'
import { deploymentStore } from './store.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'

/** Deployments a claim. Few, so that a slow process runs them before the claim ends. */
const batch = 2
/** Milliseconds of a claim; the deployments of a process that dies are due again after it. */
const claimMs = 10_000
/** Concurrent runs: schedules do not wait for each other, and callers of the API keep most of the server. */
const together = 8

export type DueRuns = {
  /** Begins to run `due` deployments of the database. */
  add: (db: Database, due: number) => void
  /** Resolves when all have run, to the databases in which claiming failed. */
  end: () => Promise<ReadonlySet<Database>>
}

export function startDueRuns(deps: OpenSessionDeps, signal: AbortSignal): DueRuns {
  const { databases, clock, log } = deps
  const queue: { db: Database; left: number }[] = []
  const working: Promise<void>[] = []
  let count = 0
  const unclaimable = new Set<Database>()

  /** True for archived workspaces, by id. Deleted workspaces are left out: their deployments run no more. */
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

  /** Returns the number of claimed deployments. */
  async function runBatch(db: Database): Promise<number> {
    const now = clock.now()
    const claimed = await db.writeStatement((tx) =>
      deploymentStore(tx).claimDue(now, now + claimMs, batch),
    )
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

  async function work(): Promise<void> {
    for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
      next.left -= batch
      if (next.left > 0) queue.push(next)
      const claimed = await runBatch(next.db).catch((error: unknown) => {
        log.error('deployments that are due could not be claimed', { error })
        unclaimable.add(next.db)
        return 0
      })
      if (claimed < batch) next.left = 0
    }
    count--
  }

  return {
    add(db: Database, left: number): void {
      queue.push({ db, left })
      for (let wanted = Math.ceil(left / batch); wanted > 0 && count < together; wanted--) {
        count++
        working.push(work())
      }
    },
    async end() {
      await Promise.all(working)
      return unclaimable
    },
  }
}
