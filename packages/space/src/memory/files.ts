/** The files of a mounted store, by their paths in it: from inside its sandbox, or on the host while nothing runs in it. */
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

/** `stamp` is another one after any change, unless the file `isFresh`: then more may come under the same stamp. */
export type FoundFile = { path: string; size: number; stamp: string; isFresh: boolean }
export type StoreWalk = { files: FoundFile[]; complete: boolean }
export type FileRead = { ok: true; bytes: Uint8Array } | { ok: false; isGone: boolean }

/** Links are neither followed nor listed. What cannot be done is a value; `SandboxEnded` rejects. */
export type StoreFiles = {
  walk(): Promise<StoreWalk>
  /** One byte more than a memory holds, at most. */
  read(path: string): Promise<FileRead>
  /** Whether it lies there now. */
  write(path: string, content: string): Promise<boolean>
  /** With the folders that it leaves empty. Whether nothing is left of it. */
  remove(path: string): Promise<boolean>
}

/** Bytes of one memory. [memory-stores/not-taken] */
export const mostBytes = 102_400
const mostEntries = 20_000

const stampOf = (size: number, changedUs: number, inode: number): string =>
  `${size} ${changedUs} ${inode}`

/** `root` is where the store is mounted, `folder` what is there on the host. */
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
 * `folder` may be the session's, and hold whatever it has left there. `scratch`, on the same file system, is for a folder
 * that is looked at meanwhile: each file appears in it whole. Small files do not wait for the disk as a rule, and are
 * read and written synchronously: the detour through the thread pool takes longer. Who has many gives way in between.
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

/** Undefined when something else stands in the way. */
async function tried<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Undefined for what is not there, which a name that is not UTF-8 is as it is read, and may be too long then. */
function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return undefined
    throw error
  }
}

/** The folders that a path lies in, the outermost first. */
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

/** In place of whatever file or link is there. */
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
  // Names are bytes: a folder whose name is no text is gone through like any other.
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
