/**
 * Lists regular files in a folder while an untrusted program changes it: follows no link, and opens nothing but folders
 * and regular files.
 */
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { opendir } from 'node:fs/promises'
import {
  isDenied,
  openAlong,
  openBelow,
  openedPath,
  openToRead,
} from '@steward/space/working-folder/opened-folder.ts'

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
    for await (const { name } of await opendir(openedPath(folder))) {
      const parts = [...above, name]
      if (looked++ === mostEntries)
        left.push({
          path: parts.join('/'),
          why: `and what is behind it: only ${mostEntries} entries are looked at`,
        })
      if (looked > mostEntries) return
      const entry = await openBelow(folder, name)
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
        left.push({ path: parts.join('/'), why: unreadableReason })
      } finally {
        await entry.close()
      }
    }
  }

  await go(root, [])
  const byPath = new Map(files.map((each) => [each.parts.join('/'), each]))
  return { files: [...byPath.keys()].sort().flatMap((path) => byPath.get(path) ?? []), left }
}

export const unreadableReason = 'the server may not read it'

/** Opens the regular file at this path for reading; undefined when there is none. */
export async function openIn(
  root: FileHandle,
  parts: readonly string[],
): Promise<{ file: FileHandle; found: OutputFile } | undefined> {
  await using at = await openAlong(root, parts)
  const stat = await at?.stat({ bigint: true })
  if (!at || !stat?.isFile()) return undefined
  const found = { parts: [...parts], size: Number(stat.size), stamp: stampOf(stat) }
  return { file: await openToRead(at), found }
}

/** Resolution of the clock that stamps files, with a margin. */
const tickMs = 100

function stampOf({ dev, ino, size, ctimeNs, ctimeMs }: BigIntStats): string | undefined {
  if (Date.now() - Number(ctimeMs) < tickMs) return undefined
  return [dev, ino, size, ctimeNs].join(':')
}
