/** What lies in the working folder of a session on this machine, in the form of a checkpoint's index. */
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { opendir, readlink } from 'node:fs/promises'
import type { FolderIndex } from '@steward/space/working-folder/archive-index.ts'
import {
  isDenied,
  openBelow,
  openedPath,
  openFolder,
  openToRead,
} from '@steward/space/working-folder/opened-folder.ts'
import { asBytes } from './live-folder.ts'

const mostEntries = 100_000
/** Folders within folders: each keeps a file of the process open while it is walked. */
const deepest = 100
/** Bytes of the largest file whose content is read. */
const largest = 256 * 1024 * 1024
const pieceBytes = 256 * 1024

/** In place of an archive's key. */
export const liveArchive = 'live'

export type LiveIndex = { entries: FolderIndex; unread: { path: string; reason: string }[] }

/** `isSkipped`: true for a folder whose contents are not looked at. `root`: the path of the folder in indexes. */
export async function indexLive(
  folder: string,
  root: string,
  { isSkipped, signal }: { isSkipped: (path: string) => boolean; signal: AbortSignal },
): Promise<LiveIndex> {
  const entries: FolderIndex = new Map()
  const unread: LiveIndex['unread'] = []

  async function add(at: FileHandle, path: string, depth: number): Promise<void> {
    signal.throwIfAborted()
    const stat = await at.stat()
    const shared = { modifiedMs: stat.mtimeMs, target: null, archive: liveArchive, place: path }
    if (stat.isDirectory()) {
      entries.set(path, { ...shared, kind: 'folder', size: 0, hash: null })
      if (isSkipped(path)) return
      if (depth === deepest)
        return void unread.push({ path, reason: `it lies in more than ${deepest} folders` })
      return addAll(at, path, depth)
    }
    const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other'
    const hash = kind === 'file' ? await hashOf(at, stat, signal) : null
    entries.set(path, { ...shared, kind, size: kind === 'file' ? stat.size : 0, hash })
  }

  async function addAll(at: FileHandle, path: string, depth: number): Promise<void> {
    const reading = await opendir(openedPath(at), { encoding: asBytes, bufferSize: 1_024 })
    for await (const { name } of reading) {
      if (entries.size === mostEntries) {
        unread.push({ path, reason: `the folder holds more than ${mostEntries} files` })
        return
      }
      const bytes = Buffer.from(name)
      await using entry = await openBelow(at, bytes)
      if (!entry) continue
      const inside = `${path}/${bytes.toString('latin1')}`
      try {
        await add(entry, inside, depth + 1)
        const added = entries.get(inside)
        if (added?.kind === 'link') added.target = await targetOf(at, bytes)
      } catch (error) {
        if (!isDenied(error)) throw error
        unread.push({ path: inside, reason: 'the server may not read it' })
      }
    }
  }

  await using at = await openFolder(folder)
  if (at) await add(at, root, 0)
  return { entries, unread }
}

/** Null for a file whose content is not read: it is compared by its size and its time. */
async function hashOf(at: FileHandle, stat: Stats, signal: AbortSignal): Promise<string | null> {
  const isSparse = stat.blocks * 512 < stat.size
  if (isSparse || stat.size > largest) return null
  await using file = await openToRead(at)
  const hash = createHash('sha256')
  for (let read = 0; read <= largest;) {
    signal.throwIfAborted()
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(pieceBytes), 0, pieceBytes)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
    read += bytesRead
  }
  return null
}

async function targetOf(folder: FileHandle, name: Buffer): Promise<string | null> {
  const path = Buffer.concat([Buffer.from(`${openedPath(folder)}/`), name])
  return readlink(path, 'latin1').catch(() => null)
}
