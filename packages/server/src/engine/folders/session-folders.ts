/**
 * The working folders of sessions, as people look at them: live from this machine where the session's folder is here,
 * else from its newest checkpoint.
 */
import { join } from 'node:path'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { CheckpointParts } from '@steward/protocol/checkpoints.ts'
import type { IndexedEntry, FolderIndex } from '@steward/space/working-folder/archive-index.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Checkpoints } from '../../resources/checkpoints/checkpoints.ts'
import type { Archives } from './archives.ts'
import type { EntryListing, EntryPage } from './folder-entry.ts'
import {
  pageOfNames,
  pathOf,
  pathKeyOf,
  workingFolderName,
  shownName,
  timeOf,
} from './folder-entry.ts'
import type { OpenedFile } from './live-folder.ts'
import { listLive, openLive } from './live-folder.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

export type SessionFolderDeps = {
  checkpoints: Checkpoints
  archives: Archives
  /** Folder of all working folders. */
  folder: string
  clock: Clock
}

export type FolderSource =
  | { source: 'live'; at: string; own: string }
  | { source: 'checkpoint'; at: string | null; parts: CheckpointParts }
  /** `isLost`: the session has had a folder. */
  | { source: 'none'; reason: string; isLost: boolean }

export type FolderViews = ReturnType<typeof sessionFolders>

const unused = 'no tool of this session has used a sandbox yet'
const elsewhere = 'the folder lies on another machine, and no checkpoint of it exists'

export function sessionFolders({ checkpoints, archives, folder, clock }: SessionFolderDeps) {
  async function find({ tenant, session }: SessionRef): Promise<FolderSource> {
    const { kept, isHere } = await checkpoints.newest({ tenant, session })
    if (!kept) return { source: 'none', reason: unused, isLost: false }
    const own = join(folder, session)
    if (isHere && existsSync(join(own, workingFolderName)))
      return { source: 'live', at: iso(clock.now()), own: join(own, workingFolderName) }
    const { parts, taken_at } = kept
    if (!parts) return { source: 'none', reason: elsewhere, isLost: true }
    return { source: 'checkpoint', at: taken_at, parts }
  }

  return {
    find,

    /** A page of the entries of a folder. `signal`: of the caller. */
    async list(
      whose: SessionRef,
      parts: readonly string[],
      { page, signal }: { page: EntryPage; signal: AbortSignal },
    ): Promise<{ found: FolderSource; listing: EntryListing }> {
      const found = await find(whose)
      const listing = await listIn(found, whose.tenant, parts, { page, signal })
      if (!listing) throw notFound('folder', pathOf(parts))
      return { found, listing }
    },

    /** A regular file of the folder. */
    async open(
      whose: SessionRef,
      parts: readonly string[],
      signal: AbortSignal,
    ): Promise<{ found: FolderSource; file: OpenedFile }> {
      const found = await find(whose)
      const file = await openIn(found, whose.tenant, parts, signal)
      if (!file) throw notFound('file', pathOf(parts))
      return { found, file }
    },
  }

  async function listIn(
    found: FolderSource,
    tenant: string,
    parts: readonly string[],
    { page, signal }: { page: EntryPage; signal: AbortSignal },
  ): Promise<EntryListing | undefined> {
    if (found.source === 'live') return listLive(found.own, parts, page)
    if (found.source === 'none')
      return parts.length === 0 ? { entries: [], more: false, isComplete: true } : undefined
    return archives.within(tenant, signal, async (within) =>
      listIndex(await archives.indexer(within)(found.parts), pathKeyOf(parts), page),
    )
  }

  async function openIn(
    found: FolderSource,
    tenant: string,
    parts: readonly string[],
    signal: AbortSignal,
  ): Promise<OpenedFile | undefined> {
    if (found.source === 'none') return undefined
    if (found.source === 'live') return openLive(found.own, parts)
    const entry = await archives.within(tenant, signal, async (within) =>
      (await archives.indexer(within)(found.parts)).get(pathKeyOf(parts)),
    )
    if (entry?.kind !== 'file') return undefined
    const read = (start: number, end: number): Readable => archives.file(entry, start, end)
    return { size: entry.size, read, close: () => Promise.resolve() }
  }
}

async function listIndex(
  index: FolderIndex,
  entryPath: string,
  asked: EntryPage,
): Promise<EntryListing | undefined> {
  if (index.get(entryPath)?.kind !== 'folder') return undefined
  const inside = new Map<string, IndexedEntry>()
  for (const [path, entry] of index) {
    const at = path.lastIndexOf('/')
    if (at === entryPath.length && path.startsWith(entryPath)) inside.set(path.slice(at + 1), entry)
  }
  const names = [...inside].map(([name, { kind }]) => ({
    isFolder: kind === 'folder',
    name: Buffer.from(name, 'latin1'),
  }))
  const { page, more } = await pageOfNames(names, asked)
  const entries = page.flatMap((at) => {
    const entry = inside.get(at.name.toString('latin1'))
    if (!entry) return []
    const { kind, size, modifiedMs, target } = entry
    return {
      at,
      shown: {
        ...shownName(at.name),
        kind,
        size: kind === 'file' ? size : null,
        modified_at: timeOf(modifiedMs),
        target: target === null ? null : Buffer.from(target, 'latin1').toString(),
      },
    }
  })
  return { entries, more, isComplete: true }
}
