/**
 * Walks the working folder of a session while the session changes it. Runs in a thread. Follows no link, and opens
 * nothing but folders and regular files.
 */
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import {
  closeSync,
  constants,
  fstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { IndexedEntry } from '@steward/space/working-folder/archive-index.ts'
import {
  asBytes,
  isDenied,
  openBelowSync,
  openedPath,
} from '@steward/space/working-folder/opened-folder.ts'
import type { LiveFolder, LiveIndexPart } from './live-index.ts'
import { liveArchive } from './live-index.ts'

const mostEntries = 100_000
/** Folders within folders: each keeps a file of the process open while it is walked. */
const deepest = 100
/** Bytes of the largest file whose content is read. */
const largest = 256 * 1024 * 1024
/** Entries of one message: the receiver takes a few milliseconds for it. */
const atOnce = 1_000

const { folder, root, skipped } = workerData as LiveFolder
const piece = Buffer.allocUnsafe(256 * 1024)
let part: LiveIndexPart = { entries: [], unread: [] }
let found = 0

function send(): void {
  parentPort?.postMessage(part)
  part = { entries: [], unread: [] }
}

function put(path: string, entry: IndexedEntry): void {
  part.entries.push([path, entry])
  if (part.entries.length === atOnce) send()
}

/** `linkTarget`: reads the text of a link. */
function add(fd: number, path: string, depth: number, linkTarget: () => string | null): void {
  const stat = fstatSync(fd)
  const shared = { modifiedMs: stat.mtimeMs, target: null, archive: liveArchive, entryPath: path }
  found += 1
  if (stat.isDirectory()) {
    put(path, { ...shared, kind: 'folder', size: 0, hash: null })
    if (path.endsWith(`/${skipped}`)) return
    if (depth < deepest) addAll(fd, path, depth)
    else part.unread.push({ path, reason: `it lies in more than ${deepest} folders` })
  } else if (stat.isFile())
    put(path, { ...shared, kind: 'file', size: stat.size, hash: hashOf(fd, stat) })
  else if (stat.isSymbolicLink())
    put(path, { ...shared, kind: 'link', size: 0, hash: null, target: linkTarget() })
  else put(path, { ...shared, kind: 'other', size: 0, hash: null })
}

function addAll(fd: number, path: string, depth: number): void {
  const reading = opendirSync(openedPath({ fd }), { encoding: asBytes, bufferSize: 1_024 })
  try {
    for (let entry = reading.readSync(); entry !== null; entry = reading.readSync()) {
      if (found >= mostEntries) {
        const reason = `the working folder holds more than ${mostEntries} files`
        return void part.unread.push({ path, reason })
      }
      addNamed(fd, path, Buffer.from(entry.name), depth + 1)
    }
  } finally {
    reading.closeSync()
  }
}

function addNamed(folderFd: number, above: string, name: Buffer, depth: number): void {
  const fd = openBelowSync(folderFd, name)
  if (fd === undefined) return
  const path = `${above}/${name.toString('latin1')}`
  try {
    add(fd, path, depth, () => targetOf(folderFd, name))
  } catch (error) {
    if (!isDenied(error)) throw error
    part.unread.push({ path, reason: 'the server may not read it' })
  } finally {
    closeSync(fd)
  }
}

/** Null for a file whose content is not read: it is compared by its size and its time. */
function hashOf(named: number, { blocks, size }: Stats): string | null {
  const isSparse = blocks * 512 < size
  if (isSparse || size > largest) return null
  const hash = createHash('sha256')
  if (size === 0) return hash.digest('hex')
  const fd = openSync(openedPath({ fd: named }), constants.O_RDONLY)
  try {
    for (let at = 0; at <= largest;) {
      const read = readSync(fd, piece, 0, piece.length, at)
      if (read === 0) return hash.digest('hex')
      hash.update(piece.subarray(0, read))
      at += read
    }
    return null
  } finally {
    closeSync(fd)
  }
}

/** Null where the link has gone meanwhile. */
function targetOf(folderFd: number, name: Buffer): string | null {
  const path = Buffer.concat([Buffer.from(`${openedPath({ fd: folderFd })}/`), name])
  try {
    return readlinkSync(path, 'latin1')
  } catch {
    return null
  }
}

const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
add(opened, root, 0, () => null)
closeSync(opened)
send()
