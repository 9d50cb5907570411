/** Builds one layer under a lease across processes, in a work folder, and moves it to its place when it is complete. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Log } from '@steward/base/log.ts'
import type { RowLease } from '../../ground/database/row-lease.ts'
import { leaseMs } from '../../ground/database/lease.ts'
import { keepLease } from '../../ground/database/row-lease.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import type { Clock } from '@steward/base/time.ts'
import type { BuildLayer, WantedInstalls } from './build.ts'
import type { BuildNews, InstallProgress } from './step.ts'

const askMs = 500

const waiting: BuildNews = { state: 'waiting', manager: null, lines: [] }

export type LayerBuilderDeps = {
  build: BuildLayer
  /** The right to build a layer, across processes. */
  leaseOf: (tenant: string, layer: string) => Promise<RowLease>
  /** The tenants' shares of this process's builds. */
  share: Share
  clock: Clock
  log: Log
}

/** Marks the layer as used now. Returns false when it does not exist. */
export async function markLayerUsed(path: string, now: number): Promise<boolean> {
  const at = new Date(now)
  return utimes(path, at, at).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}

export type LayerTarget = { tenant: string; layer: string; path: string }

/** `workFolder`: of unfinished builds. `signal`: ends the builds, which reject with its reason. */
export function layerBuilder(
  { build, leaseOf, share, clock, log }: LayerBuilderDeps,
  { workFolder, signal }: { workFolder: string; signal: AbortSignal },
) {
  async function inTurn(
    tenant: string,
    work: () => Promise<void>,
    tell: InstallProgress,
  ): Promise<void> {
    if (share.room(tenant) === 0) tell(waiting)
    const giveBack = await share.wait(tenant, signal)
    try {
      await work()
    } finally {
      giveBack()
    }
  }

  /** Resolves when the layer exists, whether this process or another has built it. */
  return async (
    target: LayerTarget,
    wanted: WantedInstalls,
    tell: InstallProgress,
  ): Promise<void> => {
    const { tenant, layer, path } = target
    const lease = await leaseOf(tenant, layer)
    for (let isTold = false; !(await lease.claim(clock.now(), leaseMs)); isTold = true) {
      if (!isTold) tell(waiting)
      await clock.sleep(askMs, signal)
      signal.throwIfAborted()
      if (await markLayerUsed(path, clock.now())) return
    }
    const endLease = keepLease(lease, clock, (error) =>
      log.warn('a build could not prolong its lease', { error }),
    )
    try {
      if (!(await markLayerUsed(path, clock.now())))
        await inTurn(tenant, () => makeAlone(path, wanted, tell), tell)
    } finally {
      endLease()
      await lease.release()
    }
  }

  async function makeAlone(
    path: string,
    wanted: WantedInstalls,
    tell: InstallProgress,
  ): Promise<void> {
    const id = randomUUID()
    const folder = join(workFolder, id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await build(wanted, { id: `build_${id}`, folder }, tell, signal)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(join(folder, 'layer'), path).catch(async (error: unknown) => {
        // Another process lost its lease and finished the same layer all the same.
        if (!(await markLayerUsed(path, clock.now()))) throw error
      })
    } finally {
      await removeTree(folder)
    }
  }
}
