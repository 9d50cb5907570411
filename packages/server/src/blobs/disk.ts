/** Blobs as files of one folder. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Blobs } from './blobs.ts'
import { checkKey, checkPrefix, within } from './blobs.ts'

/** What a process that died in mid write left is older than any write that goes on. */
const abandonedMs = 24 * 60 * 60 * 1000
const pieceBytes = 256 * 1024

/** Other processes may use the same folder at the same time. */
export async function diskBlobs(folder: string): Promise<Blobs> {
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
        const written = await writeAll(temporary, body)
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
        const { start, end } = within(size, range)
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
    async *list(prefix) {
      const below = checkPrefix(prefix)
      for await (const key of filesBelow(whole, below.slice(0, -1))) {
        const there = await found(key)
        if (there) yield { key, ...there }
      }
    },
  }
}

/** One that is replaced or deleted while it is read is read as it was. */
const reading = (file: FileHandle, start: number, end: number): Readable =>
  file.createReadStream({ start, end: end - 1, highWaterMark: pieceBytes })

async function writeAll(
  path: string,
  body: AsyncIterable<Uint8Array>,
): Promise<{ size: number; sha256: string }> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let size = 0
  try {
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.byteLength
      await file.writeFile(chunk)
    }
    await file.datasync()
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest('hex') }
}

/** The name is as durable as the bytes, also where folders down from `made` are new. */
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
