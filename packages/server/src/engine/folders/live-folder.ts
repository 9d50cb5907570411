/**
 * Looks into the folder of a session on this machine, while the session changes it. Follows no link, and opens nothing
 * but folders and regular files below the folder.
 */
import type { FileHandle } from 'node:fs/promises'
import { opendir, readlink } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FolderEntryShown } from '@steward/protocol/working-folders.ts'
import {
  asBytes,
  isDenied,
  openAlong,
  openBelow,
  openedPath,
  openFolder,
  openToRead,
} from '@steward/space/working-folder/opened-folder.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { EntryListing, EntryName, EntryPage } from './folder-entry.ts'
import { pageOfNames, shownName, timeOf } from './folder-entry.ts'

/** Names of one folder that are looked at. */
const mostNames = 100_000
const pieceBytes = 256 * 1024

/** Names what lies at the path below the folder; undefined when it does not exist. */
async function openInFolder(
  folder: string,
  parts: readonly (string | Buffer)[],
): Promise<FileHandle | undefined> {
  await using root = await openFolder(folder)
  return root && (await openAlong(root, parts))
}

/** Undefined where no folder lies at the path. */
export async function listLive(
  folder: string,
  parts: readonly string[],
  asked: EntryPage,
): Promise<EntryListing | undefined> {
  await using at = await openInFolder(folder, parts)
  if (!at || !(await at.stat()).isDirectory()) return undefined
  const { names, isComplete } = await namesIn(at)
  const { page, more } = await pageOfNames(names, asked)
  const entries: EntryListing['entries'] = []
  for (const name of page) {
    const shown = await lookAt(at, name.name)
    if (shown) entries.push({ at: name, shown })
  }
  return { entries, more, isComplete }
}

async function namesIn(at: FileHandle): Promise<{ names: EntryName[]; isComplete: boolean }> {
  const names: EntryName[] = []
  try {
    const reading = await opendir(openedPath(at), { encoding: asBytes, bufferSize: 1_024 })
    for await (const entry of reading) {
      if (names.length === mostNames) return { names, isComplete: false }
      names.push({ isFolder: entry.isDirectory(), name: Buffer.from(entry.name) })
    }
  } catch (error) {
    if (!isDenied(error)) throw error
    throw invalid(
      'path: the server may not read this folder, which its session has closed to others',
    )
  }
  return { names, isComplete: true }
}

/** Undefined when the entry has gone meanwhile. */
async function lookAt(folder: FileHandle, name: Buffer): Promise<FolderEntryShown | undefined> {
  await using at = await openBelow(folder, name)
  if (!at) return undefined
  const stat = await at.stat()
  const kind = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other'
  const path = Buffer.concat([Buffer.from(`${openedPath(folder)}/`), name])
  const target = kind === 'link' ? await readlink(path).catch(() => null) : null
  const modified_at = timeOf(stat.mtimeMs)
  return { ...shownName(name), kind, size: kind === 'file' ? stat.size : null, modified_at, target }
}

export type OpenedFile = {
  size: number
  /** Bytes from `start` up to `end`. The reader reads them to their end, or destroys them. */
  read: (start: number, end: number) => Readable
  /** For a file that is not read. */
  close: () => Promise<void>
}

/** Undefined where no regular file lies at the path. */
export async function openLive(
  folder: string,
  parts: readonly (string | Buffer)[],
): Promise<OpenedFile | undefined> {
  await using at = await openInFolder(folder, parts)
  const stat = await at?.stat()
  if (!at || !stat?.isFile()) return undefined
  const file = await openToRead(at).catch((error: unknown) => {
    if (!isDenied(error)) throw error
    throw invalid('path: the server may not read this file, which its session has closed to others')
  })
  return {
    size: stat.size,
    read: (start, end) =>
      Readable.from(piecesOf(file, start, end)).once('close', () => void file.close()),
    close: () => file.close(),
  }
}

/** Throws when the file has become shorter meanwhile: the reader was promised so many bytes. */
async function* piecesOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const wanted = Math.min(pieceBytes, end - at)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(wanted), { position: at })
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
