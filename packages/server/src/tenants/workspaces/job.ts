/**
 * Removes the contents of deleted workspaces. Each process removes folders of its own machine. One process at a time
 * removes the rest, and another continues after its death.
 */
import { hourMs, minuteMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { removeRowsAt } from '../../ground/database/workspace-rows.ts'
import { rowLease } from '../../ground/database/row-lease.ts'
import type { Ground } from '../../ground/ground.ts'
import { workspaceRemovalsTopic } from './delete.ts'
import type { RemovalRow } from './removals.ts'
import { removalStore } from './removals.ts'

export type RemovalDeps = Ground & {
  /** Ends running turns and sandboxes. True: nothing runs. `begunMs`: when this process began to end them. */
  settle: (tenant: string, begunMs: number) => Promise<boolean>
  /** Removes a bounded part of the workspace's rows and blobs. True: nothing is left. */
  removeContents: (tenant: string) => Promise<boolean>
  /** Removes folders of the workspaces on this machine. */
  removeHere: (tenants: readonly string[]) => Promise<void>
}

/** Poll interval: an operator's command notifies nobody. */
const everyMs = 15_000
/** Interval while a workspace is being removed. */
const soonMs = 1_000
const leaseMs = 60_000
/**
 * Pauses between further removals after nothing was left: requests and uploads in progress may have written since; an
 * upload takes a day at most. After the last one, the row of the removal is deleted.
 */
const againMs = [minuteMs, 10 * minuteMs, hourMs, 25 * hourMs]

export function removalJob(deps: RemovalDeps): Job {
  const { bus, clock } = deps
  const removePart = removeWorkspaces(deps)
  let runNow = () => {}
  return {
    name: 'remove deleted workspaces',
    everyMs,
    async run(signal) {
      const left = await removePart()
      if (left === 'waiting') void clock.sleep(soonMs, signal).then(() => runNow())
      return left !== 'more'
    },
    start(now) {
      runNow = now
      return bus.subscribe(workspaceRemovalsTopic, runNow)
    },
  }
}

/** Each call does a part of the work. `waiting`: a workspace is being removed, and more can be done soon. */
export function removeWorkspaces({
  databases,
  clock,
  log,
  settle,
  removeContents,
  removeHere,
}: RemovalDeps): () => Promise<'none' | 'more' | 'waiting'> {
  const { control } = databases
  /** The number of passes after which this process has removed the folders of its machine, by tenant. */
  const here = new Map<string, number>()
  const begun = new Map<string, number>()

  /** A folder that cannot be removed does not block the others; the next run retries. */
  async function removeAllHere(rows: readonly RemovalRow[]): Promise<void> {
    for (const known of [here, begun])
      for (const tenant of known.keys())
        if (!rows.some(({ tenant_id }) => tenant_id === tenant)) known.delete(tenant)
    const left = rows.filter(
      ({ tenant_id: tenant, passes }) => passes === 0 || here.get(tenant) !== passes,
    )
    if (left.length === 0) return
    try {
      await removeHere(left.map(({ tenant_id }) => tenant_id))
      for (const { tenant_id: tenant, passes } of left) {
        // A peer has removed the database that this process may have open.
        if (passes > 0) await databases.forget(tenant)
        here.set(tenant, passes)
      }
    } catch (error) {
      log.error('folders of deleted workspaces could not be removed yet', { error })
    }
  }

  async function removeControl(tenant: string): Promise<void> {
    while (!(await removeRowsAt(control, 'control', tenant)));
    await control.write((tx) => removalStore(tx).forgetWorkspace(tenant))
  }

  async function finish(row: RemovalRow): Promise<void> {
    const { tenant_id: tenant, passes } = row
    await removeControl(tenant)
    const pause = againMs[passes]
    await control.write((tx) =>
      pause === undefined
        ? removalStore(tx).forget(tenant)
        : removalStore(tx).passed(row, {
            nextMs: clock.now() + pause,
            mayRun: databases.isShared,
          }),
    )
    begun.delete(tenant)
    if (passes === 0) log.info('a deleted workspace was removed', { tenant })
  }

  /** True when nothing more can be done for the workspace now. */
  async function removePart(row: RemovalRow): Promise<boolean> {
    const tenant = row.tenant_id
    const claimed = rowLease(control, 'workspace_removals', { tenant_id: tenant })
    const now = clock.now()
    if (!(await claimed.claim(now, leaseMs))) return true
    try {
      if (row.is_settled === 0) {
        const begunMs = begun.get(tenant) ?? now
        begun.set(tenant, begunMs)
        if (!(await settle(tenant, begunMs))) return true
        await control.write((tx) => removalStore(tx).settle(tenant))
      }
      if (!(await removeContents(tenant))) return false
      await finish(row)
      return true
    } finally {
      await claimed.release()
    }
  }

  return async () => {
    const rows = await removalStore(control.read).all()
    await removeAllHere(rows)
    let isComplete = true
    for (const row of rows) {
      if (row.next_ms > clock.now()) continue
      try {
        isComplete = (await removePart(row)) && isComplete
      } catch (error) {
        // A workspace that cannot be removed does not block the others.
        log.error('a deleted workspace could not be removed yet', { tenant: row.tenant_id, error })
      }
    }
    if (!isComplete) return 'more'
    return rows.some(({ passes }) => passes === 0) ? 'waiting' : 'none'
  }
}
