/** Mounts a session's memory stores into its sandbox. [memory-stores/written-back] [memory-stores/followed] */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { MountedKind } from '../mounted-kinds.ts'
import { displacedTexts } from './displaced-texts.ts'
import type { StoreFiles } from './files.ts'
import { filesInside, filesOnHost } from './files.ts'
import { openLedger } from './ledger.ts'
import type { StoreMount } from './mount.ts'
import { storeMount } from './mount.ts'
import type { KeptStore } from './state.ts'

export type MountedStoreRow = KeptStore & {
  id: string
  path: string
  access: 'read_write' | 'read_only'
}

export type MemoryTarget = {
  /** The host folder of the stores. The session writes only to the mounted parts of it. */
  folder: string
  /** A folder of this mount alone, on the same file system. */
  scratch: string
  stores: readonly MountedStoreRow[]
  /** Current revisions by store id. A deleted store is missing. */
  revisions: () => Promise<ReadonlyMap<string, number>>
  now: () => number
}

type OpenedStore = { store: MountedStoreRow; folder: string; mount: StoreMount; host: StoreFiles }

/** Largest number of lines for the model after one call. */
const mostLines = 20

export async function mountStores(target: MemoryTarget) {
  const kept = displacedTexts(join(target.folder, 'asides'), target.now)
  const laid = await Promise.all(target.stores.map((store) => openStore(target, store, kept)))
  return followStores(target, laid, kept)
}

async function openStore(
  target: MemoryTarget,
  store: MountedStoreRow,
  kept: ReturnType<typeof displacedTexts>,
): Promise<OpenedStore> {
  const own = join(target.folder, store.id)
  const [files, scratch] = [join(own, 'files'), join(target.scratch, store.id)]
  // A read-only store holds no work of the session.
  if (store.access === 'read_only') await rm(own, { recursive: true, force: true })
  const isNew = !existsSync(files)
  for (const each of [files, scratch]) await mkdir(each, { recursive: true, mode: 0o755 })
  const ledger = await openLedger(join(own, 'ledger'), { isNew, scratch })
  const mount = storeMount({ store, path: store.path, ledger, asides: kept })
  await mount.begin(filesOnHost(files))
  return { store, folder: files, mount, host: filesOnHost(files, scratch) }
}

function followStores(
  { revisions }: MemoryTarget,
  laid: readonly OpenedStore[],
  kept: ReturnType<typeof displacedTexts>,
) {
  const written = laid.filter(({ store }) => store.access === 'read_write')
  const lines: string[] = []
  let last: Promise<unknown> = Promise.resolve()

  /** Runs tasks one after the other: several calls of reading tools may come at the same time. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  const inside = ({ store, folder }: OpenedStore, sandbox: Sandbox) =>
    filesInside(sandbox, store.path, folder)
  const lookAll = async (sandbox: Sandbox) => {
    for (const each of written) await each.mount.settle(inside(each, sandbox))
  }

  return {
    mounts: laid.map(({ store, folder }) => ({
      source: folder,
      path: store.path,
      access: store.access === 'read_write' ? ('write' as const) : ('read' as const),
    })),
    started: (sandbox) =>
      inTurn(async () => {
        for (const each of written) await each.mount.stamp(inside(each, sandbox))
        lines.push(...(await kept.deliver(sandbox)))
      }),
    before: (sandbox) =>
      inTurn(async () => {
        const now = await revisions()
        for (const each of laid) {
          const isWritten = each.store.access === 'read_write'
          const files = isWritten ? inside(each, sandbox) : each.host
          await each.mount.follow(files, now.get(each.store.id), isWritten)
        }
      }),
    changed: (sandbox) =>
      inTurn(async () => {
        await lookAll(sandbox)
        lines.push(...(await kept.deliver(sandbox)))
        lines.push(...laid.flatMap(({ mount }) => mount.takeSaid()))
        const told = lines.splice(0)
        if (told.length <= mostLines) return told
        return [...told.slice(0, mostLines), `and ${told.length - mostLines} more of this kind`]
      }),
    rested: (sandbox) => inTurn(() => lookAll(sandbox)),
    ended: () =>
      inTurn(async () => {
        for (const { mount, host } of written) await mount.end(host)
      }),
  } satisfies MountedKind
}
