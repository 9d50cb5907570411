/** What lies in a working folder by the archives of its checkpoint: the whole one, then that of the changes since. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { CheckpointPart } from '@steward/protocol/checkpoints.ts'
import type { ArchiveEntry, EntryPiece } from './archive-entries.ts'
import { ArchiveError, readArchive } from './archive-entries.ts'

/** `archive`: the key of the archive that holds the bytes. `hash`: of the bytes of a file. `entryPath`: its path there. */
export type IndexedEntry = Pick<ArchiveEntry, 'kind' | 'size' | 'modifiedMs' | 'target'> & {
  archive: string
  entryPath: string
  hash: string | null
}

/** Entries by path; a path is bytes as Latin-1 text. */
export type FolderIndex = Map<string, IndexedEntry>
export type ArchiveIndex = {
  entries: FolderIndex
  /** The names in each folder that the archive has, by its path. */
  folders: Map<string, Set<string>>
}

/** Entries of one archive. */
const mostEntries = 100_000
/** Entries between two rounds of the event loop. */
const atOnce = 2_000

/** Reads an archive to its end. Throws `ArchiveError` for one that is corrupt, or too large. */
export async function indexArchive(
  part: CheckpointPart,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<ArchiveIndex> {
  const whole = createHash('sha256')
  let bytes = 0
  async function* seen(): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      signal.throwIfAborted()
      whole.update(piece)
      bytes += piece.byteLength
      yield piece
    }
  }
  const entries: FolderIndex = new Map()
  const folders = new Map<string, Set<string>>()
  for await (const { entry, pieces } of readArchive(seen(), signal)) {
    signal.throwIfAborted()
    const { path, kind, size, modifiedMs, target, names } = entry
    if (entries.size === mostEntries)
      throw new ArchiveError(`it holds more than ${mostEntries} files`)
    if (names) folders.set(path, new Set(names))
    const shared = entry.sharedWith === null ? undefined : entries.get(entry.sharedWith)
    if (shared) {
      entries.set(path, shared)
      continue
    }
    const hash = kind === 'file' ? await hashOf(size, pieces()) : null
    entries.set(path, { kind, size, modifiedMs, target, hash, archive: part.key, entryPath: path })
  }
  if (bytes !== part.size || whole.digest('hex') !== part.sha256)
    throw new ArchiveError('its bytes are others')
  return { entries, folders }
}

/** The places of holes are hashed in place of their zeros, which may be terabytes. */
async function hashOf(size: number, pieces: AsyncIterable<EntryPiece>): Promise<string> {
  const hash = createHash('sha256')
  let at = 0
  for await (const { start, bytes } of pieces) {
    if (start !== at) hash.update(`hole ${at} ${start}`)
    hash.update(bytes)
    at = start + bytes.byteLength
  }
  if (at !== size) hash.update(`hole ${at} ${size}`)
  return hash.digest('hex')
}

/** Lays the changes over the whole: a folder that the changes have holds what they name, and nothing else. */
export async function mergeIndexes(
  base: ArchiveIndex,
  delta: ArchiveIndex | undefined,
): Promise<FolderIndex> {
  if (!delta) return base.entries
  const merged: FolderIndex = new Map()
  let looked = 0
  for (const [path, entry] of base.entries) {
    if (++looked % atOnce === 0) await setImmediate()
    if (isStillThere(path, delta)) merged.set(path, entry)
  }
  for (const [path, entry] of delta.entries) merged.set(path, entry)
  return merged
}

function isStillThere(path: string, { entries, folders }: ArchiveIndex): boolean {
  for (let at = path.lastIndexOf('/'), below = path; at > 0; at = below.lastIndexOf('/')) {
    const [above, name] = [below.slice(0, at), below.slice(at + 1)]
    if (folders.get(above)?.has(name) === false) return false
    const newer = entries.get(above)
    if (newer && newer.kind !== 'folder') return false
    below = above
  }
  return true
}
