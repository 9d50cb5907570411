/**
 * The files of a mounted store, by their paths in the store. They are accessed from inside the sandbox, or on the host.
 */
import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

/**
 * `stamp` differs after any change. `isFresh`: the file changed just now, so that the next change may get the same
 * stamp.
 */
export type FoundFile = { path: string; size: number; stamp: string; isFresh: boolean }
export type StoreWalk = { files: FoundFile[]; complete: boolean }
export type FileRead = { ok: true; bytes: Uint8Array } | { ok: false; isGone: boolean }

/**
 * Neither follows nor lists links. A failure at a file is a value. Rejects with `SandboxEnded` when the sandbox has
 * ended.
 */
export type StoreFiles = {
  walk(): Promise<StoreWalk>
  /** Reads at most one byte more than a memory may have. */
  read(path: string): Promise<FileRead>
  /** Returns true when the file was written. */
  write(path: string, content: string): Promise<boolean>
  /** Removes the file. Returns true when nothing exists at the path afterwards. */
  remove(path: string): Promise<boolean>
}

/** Largest size of one memory, in bytes. [memory-stores/not-taken] */
export const mostBytes = 102_400
const mostEntries = 20_000

const stampOf = (size: number, changedUs: number, inode: number): string =>
  `${size} ${changedUs} ${inode}`

/** `root`: path of the mount inside the sandbox. `folder`: the same folder on the host. */
export function filesInside(sandbox: Sandbox, root: string, folder: string): StoreFiles {
  return {
    async walk() {
      const walk = await sandbox.walk(root, mostEntries, true)
      if (!walk.ok) return { files: [], complete: false }
      const { files, complete, startedUs } = walk
      return {
        complete,
        files: files.map(({ path, size, changedUs, inode }) => ({
          path: path.slice(root.length),
          size,
          stamp: stampOf(size, changedUs, inode),
          isFresh: changedUs >= startedUs,
        })),
      }
    },
    async read(path) {
      const read = await sandbox.read(root + path, { offset: 0, maxBytes: mostBytes + 1 })
      if (read.ok) return read
      return { ok: false, isGone: read.code === 'not_found' }
    },
    async write(path, content) {
      if (isBelowLink(folder, path)) return false
      return (await sandbox.write(root + path, Buffer.from(content))).ok
    },
    async remove(path) {
      if (isBelowLink(folder, path)) return true
      const removed = await sandbox.remove(root + path, root)
      return removed.ok || removed.code === 'not_found' || removed.code === 'not_a_directory'
    },
  }
}

/**
 * A session may have written to `folder`, so it may hold links and special files. `scratch`: a folder on the same file
 * system, for a `folder` that is mounted meanwhile; each file then appears in it whole. Reads and writes small files
 * synchronously, because the thread pool would take longer. A caller with many files yields to the event loop in
 * between.
 */
export function filesOnHost(folder: string, scratch?: string): StoreFiles {
  return {
    walk: () => walkFolder(folder),
    read: (path) => readFile(folder + path),
    write: async (path, content) =>
      (await tried(() => {
        if (!makeAbove(folder, path)) return false
        const to = scratch === undefined ? folder + path : join(scratch, randomUUID())
        writeAnew(to, content)
        if (scratch !== undefined) renameSync(to, folder + path)
        return true
      })) ?? false,
    remove: async (path) =>
      (await tried(async () => {
        if (isBelowLink(folder, path)) return true
        await unlink(folder + path)
        await tried(async () => {
          for (let at = dirname(path); at !== '/'; at = dirname(at)) await rmdir(folder + at)
        })
        return true
      })) ?? lookAt(folder + path) === undefined,
  }
}

const expected = [
  ...['EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ENOENT', 'EEXIST', 'ENOTEMPTY', 'ELOOP'],
  'ENAMETOOLONG',
]

/** Runs `work`; undefined when it fails because another kind of file is in the way or access is denied. */
async function tried<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/**
 * Undefined when nothing exists at the path. A name that is not UTF-8 becomes another, longer name when it is decoded.
 */
function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return undefined
    throw error
  }
}

/** The folders above a path, the outermost first. */
const above = (path: string): string[] => {
  const names = path.split('/').slice(1, -1)
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

const isBelowLink = (folder: string, path: string): boolean =>
  above(path).some((each) => {
    const found = lookAt(folder + each)
    return found !== undefined && !found.isDirectory()
  })

function makeAbove(folder: string, path: string): boolean {
  for (const each of above(path)) {
    const found = lookAt(folder + each)
    if (!found) mkdirSync(folder + each, { recursive: true, mode: 0o755 })
    else if (!found.isDirectory()) return false
  }
  return true
}

/** Writes a new file, and replaces a file or link at this path. */
function writeAnew(path: string, content: string): void {
  const how = { flag: 'wx', mode: 0o644 }
  try {
    writeFileSync(path, content, how)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    unlinkSync(path)
    writeFileSync(path, content, how)
  }
}

async function walkFolder(folder: string): Promise<StoreWalk> {
  const files: FoundFile[] = []
  // Names are bytes, so that a folder whose name is not UTF-8 is read too.
  const bytes = (text: string) => Buffer.from(text)
  const waiting: Buffer[] = [bytes('')]
  let left = mostEntries
  let complete = true
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = await tried(() =>
      readdirSync(Buffer.concat([bytes(folder), at]), { withFileTypes: true, encoding: 'buffer' }),
    )
    complete &&= entries !== undefined
    for (const entry of entries ?? []) {
      if (left-- === 0) return { files, complete: false }
      const path = Buffer.concat([at, bytes('/'), entry.name])
      if (entry.isDirectory()) waiting.push(path)
      if (entry.isFile()) files.push(foundAt(folder, path.toString()))
    }
  }
  return { files, complete }
}

function foundAt(folder: string, path: string): FoundFile {
  const found = lookAt(folder + path)
  if (!found) return { path, size: 0, stamp: 'none', isFresh: false }
  const { size, ctimeNs, ino } = found
  const stamp = stampOf(Number(size), Number(ctimeNs / 1000n), Number(ino))
  return { path, size: Number(size), stamp, isFresh: false }
}

async function readFile(path: string): Promise<FileRead> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const opened = await tried(() => openSync(path, flags))
  if (opened === undefined) return { ok: false, isGone: !lookAt(path) }
  try {
    if (!fstatSync(opened).isFile()) return { ok: false, isGone: false }
    const bytes = Buffer.alloc(Math.min(fstatSync(opened).size, mostBytes + 1))
    return { ok: true, bytes: bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, 0)) }
  } finally {
    closeSync(opened)
  }
}
