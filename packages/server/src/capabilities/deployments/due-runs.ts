/** Runs what is due in databases: claims a batch of a database, runs it, and goes on with the next database. */
import type { Database, Databases } from '../../ground/database/database.ts'
import type { RunDeps } from './run.ts'
import { runDue } from './run.ts'
import { deploymentStore } from './store.ts'

/** Of one claim: few, so that a process that is slow runs them before the claim ends. */
const batch = 2
/** In milliseconds. What a process has claimed and not run when it dies is due again so much later. */
const claimMs = 10_000
/** At once, so that schedules neither wait for each other nor take the server from its callers. */
const together = 8

export type DueDeps = RunDeps & { databases: Databases }

export type DueRuns = {
  /** Begins to run so many deployments that are due in the database. */
  add: (db: Database, due: number) => void
  /** Resolves when all have run. False: a database took no claim. */
  end: () => Promise<boolean>
}

export function startDueRuns(deps: DueDeps, signal: AbortSignal): DueRuns {
  const { databases, clock, log } = deps
  const queue: { db: Database; left: number }[] = []
  const working: Promise<void>[] = []
  let count = 0
  let isClaimable = true

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

  /** Returns how many were claimed. */
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
        isClaimable = false
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
      return isClaimable
    },
  }
}
