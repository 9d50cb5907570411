/**
 * Keeps files in folders that only the server writes to. The bytes of a file are stored once, under the file's id. Its
 * paths are hard links to them, so that a file appears whole and the folder itself shows which files it has.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, link, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** `paths`: relative to the folder, each below one of the mounted folders. */
export type FilePaths = { id: string; paths: readonly string[] }
/** Undefined for a deleted file, which is left out. */
export type OpenBytes<W extends FilePaths = FilePaths> = (
  wanted: W,
) => Promise<Readable | undefined>

const mounted = ['files', 'uploads'] as const
const atOnce = 8

export const folderOf = (folder: string, name: (typeof mounted)[number] | 'given'): string =>
  join(folder, name)

/** Adds missing files and removes files that are not wanted. Returns the ids of the added files. */
export async function writeLayout<W extends FilePaths>(
  folder: string,
  wanted: readonly W[],
  open: OpenBytes<W>,
): Promise<Set<string>> {
  const given = folderOf(folder, 'given')
  await mkdir(given, { recursive: true, mode: 0o700 })
  const made = new Set<string>()
  for (const name of mounted) await makeFolders(folder, name, made)
  const came = new Set<string>()
  const left = new Set(wanted)
  const bring = async () => {
    for (const each of left) {
      left.delete(each)
      if (await fetched(join(given, each.id), () => open(each))) came.add(each.id)
    }
  }
  const bringing = Array.from({ length: atOnce }, bring)
  await Promise.allSettled(bringing)
  await Promise.all(bringing)
  const inodes = new Map<string, number>()
  for (const { id, paths } of wanted) {
    const inode = await inodeOf(join(given, id))
    if (inode !== undefined) for (const path of paths) inodes.set(path, inode)
  }
  for (const name of mounted) await clear(folder, name, inodes)
  const names = wanted.flatMap(({ id, paths }) => paths.map((path) => ({ id, path })))
  for (const { id, path } of names) {
    const to = join(folder, path)
    if (!inodes.has(path) || (await inodeOf(to)) !== undefined) continue
    await makeFolders(folder, dirname(path), made)
    await link(join(given, id), to)
  }
  const ids = new Set(wanted.map(({ id }) => id))
  for (const name of await readdir(given)) {
    if (!ids.has(name)) await rm(join(given, name), { force: true })
  }
  return came
}

async function fetched(path: string, open: () => Promise<Readable | undefined>): Promise<boolean> {
  if ((await inodeOf(path)) !== undefined) return false
  const body = await open()
  if (!body) return false
  const coming = join(dirname(path), `.${randomUUID()}`)
  try {
    await pipeline(body, createWriteStream(coming, { flags: 'wx' }))
    await chmod(coming, 0o644)
    await rename(coming, path)
  } catch (error) {
    await rm(coming, { force: true })
    throw error
  }
  return true
}

async function inodeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).ino
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates the missing folders of a path. `made`: folders that exist already. */
async function makeFolders(folder: string, path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return
  const above = dirname(path)
  if (above !== '.') await makeFolders(folder, above, made)
  const at = join(folder, path)
  await mkdir(at, { recursive: true })
  // The session's user can read the folder, whatever the server's umask is.
  await chmod(at, 0o755)
  made.add(path)
}

/** Removes everything that is not wanted, then empty folders. */
async function clear(
  folder: string,
  path: string,
  wanted: ReadonlyMap<string, number>,
): Promise<void> {
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    const below = `${path}/${entry.name}`
    const at = join(folder, below)
    if (entry.isDirectory()) {
      await clear(folder, below, wanted)
      if ((await readdir(at)).length === 0) await rmdir(at)
    } else if (wanted.get(below) !== (await inodeOf(at))) {
      await rm(at, { force: true })
    }
  }
}
