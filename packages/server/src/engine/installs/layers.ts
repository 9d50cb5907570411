/**
 * Built layers, by tenant and identity. A layer never serves another tenant: package scripts have run in it, and a
 * registry chose the versions that were not named. Across processes a layer is built once at a time, and appears whole
 * or not at all.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { removeTree, removeUnused } from '@steward/sandbox/remove-tree.ts'
import { createKeyQueue } from '../../ground/core/fairness/key-queue.ts'
import type { WantedInstalls } from './build.ts'
import type { LayerBuilderDeps, LayerTarget } from './layer-builder.ts'
import { layerBuilder, markLayerUsed } from './layer-builder.ts'
import type { InstallProgress } from './step.ts'
import { BuildFailure } from './step.ts'

/** Layers of one tenant. A new layer replaces the oldest unused layers. */
const mostLayers = 50
const hour = 60 * 60_000
const day = 24 * hour
/** A folder name that no tenant has. */
const workName = '.building'

export type LayerDeps = LayerBuilderDeps & {
  /** Folder of all layers; only the server opens it. */
  folder: string
  identify: (wanted: WantedInstalls) => Promise<string>
  /** An unused layer is removed after this time, in ms. */
  keptMs: number
}

type LayerBuild = { made: Promise<void>; told: Set<InstallProgress> }

export type Layers = {
  /** Resolves with the folder of the layer, which stays until it is released. Rejects with `BuildFailure`. */
  take: (
    tenant: string,
    wanted: WantedInstalls,
    tell: InstallProgress,
  ) => Promise<{ path: string; release: () => void }>
  /** Removes layers that were unused for long, and the unfinished builds of dead processes. */
  removeUnused: () => Promise<true>
  /** Ends running builds; calls that wait for a build reject. */
  close: () => Promise<void>
}

export function createLayers({ folder, identify, keptMs, ...deps }: LayerDeps): Layers {
  const { clock } = deps
  const building = new Map<string, LayerBuild>()
  const inUse = new Map<string, number>()
  const inTurn = createKeyQueue()
  const closing = new AbortController()
  const workFolder = join(folder, workName)
  const make = layerBuilder(deps, { workFolder, signal: closing.signal })

  /** Builds a layer, or joins a build of the same layer in this process. */
  async function buildWith(
    target: LayerTarget,
    wanted: WantedInstalls,
    tell: InstallProgress,
  ): Promise<void> {
    const { path } = target
    let mine = building.get(path)
    if (!mine) {
      const told = new Set<InstallProgress>()
      const all: InstallProgress = (news) => {
        for (const each of told) each(news)
      }
      const made = inTurn(target.tenant, () => makeRoom(target))
        .then(() => make(target, wanted, all))
        .finally(() => building.delete(path))
      mine = { made, told }
      building.set(path, mine)
    }
    mine.told.add(tell)
    await mine.made
  }

  function use(path: string) {
    inUse.set(path, (inUse.get(path) ?? 0) + 1)
    let isReleased = false
    return {
      path,
      release(): void {
        if (isReleased) return
        isReleased = true
        const users = (inUse.get(path) ?? 1) - 1
        if (users > 0) inUse.set(path, users)
        else inUse.delete(path)
      },
    }
  }

  /**
   * Removes the oldest layers of the tenant, but none that a process of this host may use: a used layer is touched each
   * hour.
   */
  async function makeRoom({ tenant, path }: LayerTarget): Promise<void> {
    const of = join(folder, tenant)
    const names = await namesIn(of)
    const found = await Promise.all(
      names.map(async (name) => ({ path: join(of, name), usedAt: await usedAt(join(of, name)) })),
    )
    const under = [...building.keys()].filter((each) => dirname(each) === of)
    const before = under
      .slice(0, under.indexOf(path))
      .filter((each) => !names.includes(basename(each)))
    const tooMany = names.length + before.length + 1 - mostLayers
    if (tooMany <= 0) return
    const since = clock.now() - 2 * hour
    const oldest = found.toSorted((one, other) => one.usedAt - other.usedAt).slice(0, tooMany)
    if (
      oldest.length < tooMany ||
      oldest.some((each) => inUse.has(each.path) || each.usedAt > since)
    ) {
      const why = `the workspace uses ${mostLayers} different sets of packages, and may not have more`
      throw new BuildFailure(null, why)
    }
    for (const each of oldest) await discard(each.path, since)
  }

  async function discard(path: string, since: number): Promise<void> {
    await mkdir(workFolder, { recursive: true, mode: 0o700 })
    await removeUnused(path, join(workFolder, randomUUID()), since)
  }

  return {
    async take(tenant, wanted, tell) {
      const layer = await identify(wanted)
      const path = join(folder, tenant, layer)
      if (!(await markLayerUsed(path, clock.now())))
        await buildWith({ tenant, layer, path }, wanted, tell)
      return use(path)
    },

    async removeUnused() {
      await Promise.all([...inUse.keys()].map((path) => markLayerUsed(path, clock.now())))
      for (const tenant of await namesIn(folder)) {
        for (const name of await namesIn(join(folder, tenant))) {
          const path = join(folder, tenant, name)
          const at = await usedAt(path)
          if (tenant === workName) {
            if (clock.now() - at > day) await removeTree(path)
          } else if (clock.now() - at > keptMs) await discard(path, clock.now() - keptMs)
        }
      }
      return true
    },

    async close() {
      closing.abort(new Error('the server is shutting down'))
      await Promise.allSettled([...building.values()].map(({ made }) => made))
    },
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Time of last use; 0 for a layer that has disappeared meanwhile. */
const usedAt = async (path: string): Promise<number> =>
  (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
