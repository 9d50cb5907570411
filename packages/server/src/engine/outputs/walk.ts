/**
 * Lists regular files in a folder while an untrusted program changes it. Each step starts at an open folder, follows no
 * link, and opens nothing but folders and regular files. A path can change its meaning between two steps; an open
 * descriptor cannot.
 */
import type { BigIntStats } from 'node:fs'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, opendir } from 'node:fs/promises'

/** Linux O_PATH: names a file without opening it for reading. */
const pathOnly = 0o10000000
const looking = pathOnly | constants.O_NOFOLLOW
const deepest = 16

/**
 * `stamp` changes whenever the content may have changed. The kernel makes it, so programs cannot forge it. Undefined
 * for a file that changed just now: the next change could get the same time.
 */
export type OutputFile = { parts: string[]; size: number; stamp: string | undefined }
export type SkippedOutput = { path: string; why: string }

/** Lists at most `mostEntries` entries, ordered by path. */
export async function filesIn(
  root: FileHandle,
  mostEntries: number,
): Promise<{ files: OutputFile[]; left: SkippedOutput[] }> {
  const files: OutputFile[] = []
  const left: SkippedOutput[] = []
  let looked = 0

  async function go(folder: FileHandle, above: readonly string[]): Promise<void> {
    for await (const { name } of await opendir(pathOf(folder))) {
      const parts = [...above, name]
      if (looked++ === mostEntries)
        left.push({
          path: parts.join('/'),
          why: `and what is behind it: only ${mostEntries} entries are looked at`,
        })
      if (looked > mostEntries) return
      const entry = await below(folder, name)
      if (entry === undefined) {
        if (name.includes('\ufffd'))
          left.push({ path: parts.join('/'), why: 'its name is not UTF-8' })
        continue
      }
      try {
        const stat = await entry.stat({ bigint: true })
        if (stat.isFile()) files.push({ parts, size: Number(stat.size), stamp: stampOf(stat) })
        else if (!stat.isDirectory())
          left.push({ path: parts.join('/'), why: 'it is no regular file' })
        else if (parts.length === deepest)
          left.push({ path: parts.join('/'), why: `it lies in more than ${deepest - 1} folders` })
        else await go(entry, parts)
      } catch (error) {
        if (!isDenied(error)) throw error
        left.push({ path: parts.join('/'), why: denied })
      } finally {
        await entry.close()
      }
    }
  }

  await go(root, [])
  const byPath = new Map(files.map((each) => [each.parts.join('/'), each]))
  return { files: [...byPath.keys()].sort().flatMap((path) => byPath.get(path) ?? []), left }
}

export const denied = 'the server may not read it'
export const isDenied = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'EACCES'

/** Opens a folder for `filesIn` and `openIn`; undefined when it does not exist. */
export const openFolder = (path: string): Promise<FileHandle | undefined> =>
  open(path, looking | constants.O_DIRECTORY).catch(absent)

/** Opens the regular file at this path for reading; undefined when there is none. */
export async function openIn(
  root: FileHandle,
  parts: readonly string[],
): Promise<{ file: FileHandle; found: OutputFile } | undefined> {
  const passed: FileHandle[] = []
  try {
    let at = root
    for (const name of parts) {
      const next = await below(at, name)
      if (!next) return undefined
      passed.push(next)
      at = next
    }
    const stat = await at.stat({ bigint: true })
    if (!stat.isFile()) return undefined
    const found = { parts: [...parts], size: Number(stat.size), stamp: stampOf(stat) }
    return { file: await open(pathOf(at), constants.O_RDONLY), found }
  } finally {
    for (const each of passed) await each.close()
  }
}

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

const below = (folder: FileHandle, name: string): Promise<FileHandle | undefined> =>
  open(`${pathOf(folder)}/${name}`, looking).catch(absent)

/** Resolution of the clock that stamps files, with a margin. */
const tickMs = 100

function stampOf({ dev, ino, size, ctimeNs, ctimeMs }: BigIntStats): string | undefined {
  if (Date.now() - Number(ctimeMs) < tickMs) return undefined
  return [dev, ino, size, ctimeNs].join(':')
}

function absent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  // ENAMETOOLONG: a name that is not UTF-8 becomes longer when it is decoded.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined
  throw error
}
