/** A session's memory stores in its sandbox. contract.md 1.4, behaviours.md 1.15 */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Furnished } from '@steward/harness/furnish/furnished.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { memoryStoreStore } from '../memory-stores/store.ts'
import type { SessionPlace } from '../runner/furnishing.ts'
import type { AttachedStore } from '../sessions/resources/memory-stores.ts'
import { isAttachedStore } from '../sessions/resources/memory-stores.ts'
import { resourceStore } from '../sessions/resources/store.ts'
import { asides } from './asides.ts'
import type { StoreFiles } from './files.ts'
import { filesInside, filesOnHost } from './files.ts'
import { openLedger } from './ledger.ts'
import type { StoreMount } from './mount.ts'
import { storeMount } from './mount.ts'

type Deps = { databases: Databases; clock: Clock }
type Place = Pick<SessionPlace, 'tenant' | 'session' | 'folder'>
type Laid = { row: AttachedStore; folder: string; mount: StoreMount; host: StoreFiles }

/** Lines for the model after one call. */
const mostLines = 20

export function furnishMemory(deps: Deps) {
  /** Whoever follows waits until what the last sandbox left is on record. */
  const ending = new Map<string, () => Promise<void>>()
  return async (place: Place): Promise<Furnished> => {
    await ending.get(place.session)?.()
    const { read } = deps.databases.of(place.tenant)
    const all = await resourceStore(read).ofSessions(place.tenant, [place.session])
    const rows = (all.get(place.session) ?? []).filter(isAttachedStore)
    if (rows.length === 0) return {}
    const kept = asides(join(place.folder, 'memory', 'asides'), () => deps.clock.now())
    const laid = await Promise.all(rows.map((row) => layOut(deps, place, row, kept)))
    const furnished = lookedAfter(deps, place, laid, kept)
    let ended: Promise<void> | undefined
    const end = () => (ended ??= furnished.ended().finally(() => ending.delete(place.session)))
    ending.set(place.session, end)
    return { ...furnished, ended: end }
  }
}

async function layOut(
  { databases, clock }: Deps,
  { tenant, folder }: Place,
  row: AttachedStore,
  kept: ReturnType<typeof asides>,
): Promise<Laid> {
  const own = join(folder, 'memory', row.memory_store_id)
  const [files, scratch] = [join(own, 'files'), join(own, 'scratch')]
  await rm(scratch, { recursive: true, force: true })
  // What can only be read is nobody's work.
  if (row.access === 'read_only') await rm(own, { recursive: true, force: true })
  const isNew = !existsSync(files)
  for (const each of [files, scratch]) await mkdir(each, { recursive: true, mode: 0o755 })
  const ledger = await openLedger(join(own, 'ledger'), isNew)
  const database = databases.of(tenant)
  const mount = storeMount({ database, row, ledger, asides: kept, now: () => clock.now() })
  await mount.begin(filesOnHost(files))
  return { row, folder: files, mount, host: filesOnHost(files, scratch) }
}

function lookedAfter(
  { databases }: Deps,
  { tenant }: Place,
  laid: readonly Laid[],
  kept: ReturnType<typeof asides>,
) {
  const ids = laid.map(({ row }) => row.memory_store_id)
  const written = laid.filter(({ row }) => row.access === 'read_write')
  const stores = memoryStoreStore(databases.of(tenant).read)
  const lines: string[] = []
  let last: Promise<unknown> = Promise.resolve()

  /** Calls of tools that read may come together. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  const inside = ({ row, folder }: Laid, sandbox: Sandbox) =>
    filesInside(sandbox, row.mount_path, folder)
  const lookAll = async (sandbox: Sandbox) => {
    for (const each of written) await each.mount.settle(inside(each, sandbox))
  }

  return {
    mounts: laid.map(({ row, folder }) => ({
      source: folder,
      path: row.mount_path,
      access: row.access === 'read_write' ? ('write' as const) : ('read' as const),
    })),
    started: (sandbox) =>
      inTurn(async () => {
        for (const each of written) await each.mount.stamp(inside(each, sandbox))
        lines.push(...(await kept.deliver(sandbox)))
      }),
    before: (sandbox) =>
      inTurn(async () => {
        const now = await stores.revisions(tenant, ids)
        for (const each of laid) {
          const isWritten = each.row.access === 'read_write'
          const files = isWritten ? inside(each, sandbox) : each.host
          await each.mount.follow(files, now.get(each.row.memory_store_id), isWritten)
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
  } satisfies Furnished
}
