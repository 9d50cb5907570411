/** Reads the texts of changed files, so that their lines can be compared. */
import { buffer } from 'node:stream/consumers'
import type { IndexedEntry } from '@steward/space/working-folder/archive-index.ts'
import type { Archives } from './archives.ts'
import type { FolderChange } from './compare.ts'
import { openLive } from './live-folder.ts'
import { liveArchive } from './live-index.ts'

/** Bytes of a text whose lines are compared, and of all texts of one answer. */
const longestText = 256 * 1024
const mostBytes = 16 * 1024 * 1024
const mostPairs = 500

/** Bytes by `placeKey`. Undefined for a file that is no longer there. */
export type Contents = Map<string, Uint8Array>

export const entryKey = ({ archive, entryPath }: IndexedEntry): string => `${archive} ${entryPath}`

export const isShort = (entry: IndexedEntry | undefined): boolean =>
  entry === undefined || (entry.kind === 'file' && entry.size <= longestText)

/** True where the two contents are to be compared by lines. */
const isComparable = ({ before, after, previousPath }: FolderChange): boolean =>
  previousPath === null && isShort(before) && isShort(after)

/** The changes whose lines one answer compares, of changes in the order in which they matter. */
export function chosenChanges(changes: readonly FolderChange[]): Set<FolderChange> {
  const chosen = new Set<FolderChange>()
  let bytes = 0
  for (const change of changes.filter(isComparable)) {
    const size = (change.before?.size ?? 0) + (change.after?.size ?? 0)
    if (chosen.size === mostPairs) break
    if (bytes + size > mostBytes) continue
    bytes += size
    chosen.add(change)
  }
  return chosen
}

/** `own`: the working folder on this machine, for entries that lie there. */
export async function readContents(
  archives: Archives,
  entries: readonly IndexedEntry[],
  { own, signal }: { own: string | undefined; signal: AbortSignal },
): Promise<Contents> {
  const contents: Contents = new Map()
  const byArchive = Map.groupBy(entries, ({ archive }) => archive)
  for (const [archive, wanted] of byArchive) {
    if (archive === liveArchive) continue
    const paths = new Set(wanted.map(({ entryPath }) => entryPath))
    for await (const { entryPath, size, pieces } of archives.read(archive, paths, signal)) {
      signal.throwIfAborted()
      const bytes = new Uint8Array(size)
      for await (const piece of pieces) bytes.set(piece.bytes, piece.start)
      contents.set(`${archive} ${entryPath}`, bytes)
    }
  }
  for (const entry of byArchive.get(liveArchive) ?? []) {
    signal.throwIfAborted()
    const parts = entry.entryPath.split('/').slice(1)
    const names = parts.map((part) => Buffer.from(part, 'latin1'))
    const file = own === undefined ? undefined : await openLive(own, names)
    if (!file) continue
    const { size, read } = file
    const bytes = await buffer(read(0, Math.min(size, longestText))).catch(() => undefined)
    if (bytes) contents.set(entryKey(entry), bytes)
  }
  return contents
}

/** Undefined for bytes that are no text. */
export function decodeFileText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
