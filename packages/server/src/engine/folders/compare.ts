/** Compares two states of a working folder. */
import type { FolderIndex, IndexedEntry } from '@steward/space/working-folder/archive-index.ts'
import { inRounds } from './rounds.ts'

/** Paths are bytes as Latin-1 text, as in archives. */
export type FolderChange = {
  path: string
  before: IndexedEntry | undefined
  after: IndexedEntry | undefined
  /** The path that a renamed file had. */
  previousPath: string | null
}

/** In no order. Folders by themselves are no changes. `isLookedAt`: of a path. */
export async function compareFolders(
  before: FolderIndex,
  after: FolderIndex,
  isLookedAt: (path: string) => boolean,
): Promise<FolderChange[]> {
  const removed: FolderChange[] = []
  const added: FolderChange[] = []
  const changed: FolderChange[] = []
  for await (const some of inRounds(fileEntries(before)))
    for (const [path, entry] of some) {
      if (!isLookedAt(path)) continue
      const later = fileAt(after, path)
      if (!later) removed.push({ path, before: entry, after: undefined, previousPath: null })
      else if (!isSame(entry, later))
        changed.push({ path, before: entry, after: later, previousPath: null })
    }
  for await (const some of inRounds(fileEntries(after)))
    for (const [path, entry] of some)
      if (isLookedAt(path) && !fileAt(before, path))
        added.push({ path, before: undefined, after: entry, previousPath: null })
  return [...changed, ...(await withRenames(removed, added))]
}

function* fileEntries(index: FolderIndex): Generator<[string, IndexedEntry]> {
  for (const entry of index) if (entry[1].kind !== 'folder') yield entry
}

function fileAt(index: FolderIndex, path: string): IndexedEntry | undefined {
  const entry = index.get(path)
  return entry?.kind === 'folder' ? undefined : entry
}

const secondOf = (ms: number): number => Math.floor(ms / 1_000)

export function isSame(one: IndexedEntry, other: IndexedEntry): boolean {
  if (one.kind !== other.kind || one.size !== other.size || one.target !== other.target)
    return false
  if (one.kind !== 'file') return true
  // A file whose content was not read: archives have times in whole seconds.
  if (one.hash === null || other.hash === null)
    return secondOf(one.modifiedMs) === secondOf(other.modifiedMs)
  return one.hash === other.hash
}

/**
 * A file that was removed and one with the same content that was added are one that was renamed. Of several with that
 * content, those with the same name belong together first.
 */
async function withRenames(
  removed: readonly FolderChange[],
  added: readonly FolderChange[],
): Promise<FolderChange[]> {
  const byName = await pairUp(removed, added, ({ hash }, path) => `${hash}/${nameOf(path)}`)
  const byContent = await pairUp(byName.removed, byName.added, ({ hash }) => hash ?? '')
  return [...byName.renamed, ...byContent.renamed, ...byContent.removed, ...byContent.added]
}

async function pairUp(
  removed: readonly FolderChange[],
  added: readonly FolderChange[],
  keyOf: (entry: IndexedEntry, path: string) => string,
) {
  const gone = new Map<string, FolderChange[]>()
  for await (const some of inRounds(removed))
    for (const change of some) {
      if (!isTelling(change.before)) continue
      const key = keyOf(change.before, change.path)
      const same = gone.get(key)
      if (same) same.push(change)
      else gone.set(key, [change])
    }
  const taken = new Set<FolderChange>()
  const renamed: FolderChange[] = []
  const left: FolderChange[] = []
  for await (const some of inRounds(added))
    for (const change of some) {
      const { after, path } = change
      const from = isTelling(after) ? gone.get(keyOf(after, path))?.pop() : undefined
      if (from) {
        taken.add(from)
        renamed.push({ ...change, before: from.before, previousPath: from.path })
      } else left.push(change)
    }
  return { renamed, added: left, removed: removed.filter((change) => !taken.has(change)) }
}

/** True where the content tells the file apart from others. */
const isTelling = (entry: IndexedEntry | undefined): entry is IndexedEntry =>
  entry !== undefined && entry.size > 0 && entry.hash !== null

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
