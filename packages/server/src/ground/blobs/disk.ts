/** Blobs as files in one folder. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import { spaceProblem } from '@steward/sandbox/disk.ts'
import { StorageError } from '../core/errors.ts'
import type { Blobs } from './blobs.ts'
import { checkKey, checkPrefix, clampRange } from './blobs.ts'

/** Milliseconds after which an unfinished file counts as left by a dead process: longer than any write. */
const abandonedMs = 24 * 60 * 60 * 1000
const readBytes = 256 * 1024
const gatherBytes = 512 * 1024
const syncBytes = 32 * 1024 * 1024

/** Passes on the body. Rejects when less than `floor` is free, before the first piece and after every 32 MiB. */
async function* leavingFree(
  folder: string,
  floor: DiskSpace | undefined,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const demand = async () => {
    const why = floor && (await spaceProblem(folder, floor))
    if (why !== undefined) throw new StorageError('full', new Error(why))
  }
  await demand()
  let unseen = 0
  for await (const piece of body) {
    unseen += piece.byteLength
    if (unseen >= syncBytes) {
      await demand()
      unseen = 0
    }
    yield piece
  }
}

/** Blobs in a folder, which several processes may use at the same time. */
export async function diskBlobs(folder: string, floor?: DiskSpace): Promise<Blobs> {
  const coming = join(folder, 'coming')
  const whole = join(folder, 'whole')
  await mkdir(coming, { recursive: true, mode: 0o700 })
  await mkdir(whole, { recursive: true, mode: 0o700 })
  await clear(coming)
  const pathOf = (key: string) => join(whole, checkKey(key))

  async function found(key: string): Promise<{ size: number; modifiedMs: number } | undefined> {
    try {
      const { size, mtimeMs } = await stat(pathOf(key))
      return { size, modifiedMs: mtimeMs }
    } catch (error) {
      return absent(error)
    }
  }

  return {
    async put(key, body) {
      const path = pathOf(key)
      const temporary = join(coming, randomUUID())
      try {
        const written = await writeAll(temporary, leavingFree(folder, floor, body))
        const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await rename(temporary, path)
        await syncFolders(dirname(path), made)
        return written
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    async get(key, range) {
      const path = pathOf(key)
      let file: FileHandle
      try {
        file = await open(path)
      } catch (error) {
        return absent(error)
      }
      try {
        const { size } = await file.stat()
        const { start, end } = clampRange(size, range)
        if (start < end) return { size, body: reading(file, start, end) }
        await file.close()
        return { size, body: Readable.from([]) }
      } catch (error) {
        await file.close()
        throw error
      }
    },
    async head(key) {
      const there = await found(key)
      return there && { size: there.size }
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
    },
    async deleteBelow(prefix) {
      await rm(join(whole, checkPrefix(prefix)), { recursive: true, force: true })
      return true
    },
    async *list(prefix) {
      const below = checkPrefix(prefix)
      for await (const key of filesBelow(whole, below.slice(0, -1))) {
        const there = await found(key)
        if (there) yield { key, ...there }
      }
    },
  }
}

/** Reads an open file. A blob that is replaced or deleted meanwhile is read as it was. */
const reading = (file: FileHandle, start: number, end: number): Readable =>
  file.createReadStream({ start, end: end - 1, highWaterMark: readBytes })

/**
 * Writes the body to a file. Gathers pieces into two buffers: one is written while the other fills. Syncs every 32 MiB,
 * so that the last sync is short.
 */
async function writeAll(
  path: string,
  body: AsyncIterable<Uint8Array>,
): Promise<{ size: number; sha256: string }> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let size = 0
  let unsynced = 0
  let writing: Promise<unknown> = Promise.resolve()
  let syncing: Promise<unknown> = Promise.resolve()
  let [filling, spare]: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)]
  let filled = 0

  async function flush(): Promise<void> {
    await writing
    writing = file.writeFile(filling.subarray(0, filled))
    writing.catch(() => {})
    unsynced += filled
    filled = 0
    ;[filling, spare] = [spare, filling]
    if (unsynced < syncBytes) return
    await syncing
    unsynced = 0
    syncing = file.datasync()
    syncing.catch(() => {})
  }

  try {
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.byteLength
      if (filled + chunk.byteLength > gatherBytes) await flush()
      if (chunk.byteLength >= gatherBytes) {
        await writing
        await file.writeFile(chunk)
        unsynced += chunk.byteLength
        continue
      }
      if (filled + chunk.byteLength > filling.length)
        filling = enlarged(filling, filled, chunk.byteLength)
      filling.set(chunk, filled)
      filled += chunk.byteLength
    }
    await flush()
    await writing
    await syncing
    await file.datasync()
  } finally {
    await Promise.allSettled([writing, syncing])
    await file.close()
  }
  return { size, sha256: hash.digest('hex') }
}

/** A buffer with room for `more` bytes. It grows with the blob, because many small blobs are written at a time. */
function enlarged(buffer: Buffer, used: number, more: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(
    used === 0 ? Math.max(more, 16_384) : Math.max(gatherBytes, used + more),
  )
  larger.set(buffer.subarray(0, used))
  return larger
}

/** Syncs the folder, and new folders from `made` down, so that the name is as durable as the bytes. */
async function syncFolders(folder: string, made: string | undefined): Promise<void> {
  const last = made === undefined ? folder : dirname(made)
  for (let at = folder; at.length >= last.length; at = dirname(at)) {
    const handle = await open(at)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

async function* filesBelow(root: string, folder: string): AsyncIterable<string> {
  let entries
  try {
    entries = await readdir(join(root, folder), { withFileTypes: true })
  } catch (error) {
    return absent(error)
  }
  for (const entry of entries) {
    const key = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(root, key)
    else yield key
  }
}

async function clear(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const written = await stat(path).catch(absent)
    if (written && Date.now() - written.mtimeMs > abandonedMs) await rm(path, { force: true })
  }
}

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
