/** Compares two states of a working folder. */
import { setImmediate } from 'node:timers/promises'
import type { FolderIndex, IndexedEntry } from '@steward/space/working-folder/archive-index.ts'

/** Paths are bytes as Latin-1 text, as in archives. */
export type FolderChange = {
  path: string
  before: IndexedEntry | undefined
  after: IndexedEntry | undefined
  /** The path that a renamed file had. */
  previousPath: string | null
}

/** Entries between two rounds of the event loop. */
const atOnce = 5_000

/** Folders by themselves are no changes. `isLookedAt`: of a path. */
export async function compareFolders(
  before: FolderIndex,
  after: FolderIndex,
  isLookedAt: (path: string) => boolean,
): Promise<FolderChange[]> {
  const removed: FolderChange[] = []
  const added: FolderChange[] = []
  const changed: FolderChange[] = []
  let looked = 0
  for (const [path, entry] of fileEntries(before)) {
    if (++looked % atOnce === 0) await setImmediate()
    if (!isLookedAt(path)) continue
    const later = fileAt(after, path)
    if (!later) removed.push({ path, before: entry, after: undefined, previousPath: null })
    else if (!isSame(entry, later))
      changed.push({ path, before: entry, after: later, previousPath: null })
  }
  for (const [path, entry] of fileEntries(after)) {
    if (++looked % atOnce === 0) await setImmediate()
    if (isLookedAt(path) && !fileAt(before, path))
      added.push({ path, before: undefined, after: entry, previousPath: null })
  }
  const all = [...changed, ...withRenames(removed, added)]
  return all.toSorted((one, other) => (one.path < other.path ? -1 : 1))
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
function withRenames(
  removed: readonly FolderChange[],
  added: readonly FolderChange[],
): FolderChange[] {
  const byName = pairUp(removed, added, ({ hash }, path) => `${hash}/${nameOf(path)}`)
  const byContent = pairUp(byName.removed, byName.added, ({ hash }) => hash ?? '')
  return [...byName.renamed, ...byContent.renamed, ...byContent.removed, ...byContent.added]
}

function pairUp(
  removed: readonly FolderChange[],
  added: readonly FolderChange[],
  keyOf: (entry: IndexedEntry, path: string) => string,
) {
  const gone = new Map<string, FolderChange[]>()
  for (const change of removed) {
    if (!isTelling(change.before)) continue
    const key = keyOf(change.before, change.path)
    const same = gone.get(key)
    if (same) same.push(change)
    else gone.set(key, [change])
  }
  const taken = new Set<FolderChange>()
  const renamed: FolderChange[] = []
  const left = added.filter((change) => {
    const from = isTelling(change.after) && gone.get(keyOf(change.after, change.path))?.pop()
    if (!from) return true
    taken.add(from)
    renamed.push({ ...change, before: from.before, previousPath: from.path })
    return false
  })
  return { renamed, added: left, removed: removed.filter((change) => !taken.has(change)) }
}

/** True where the content tells the file apart from others. */
const isTelling = (entry: IndexedEntry | undefined): entry is IndexedEntry =>
  entry !== undefined && entry.size > 0 && entry.hash !== null

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
