/** An entry of a folder of a session, live or in a checkpoint, and the order in which entries are listed. */
import { iso } from '@steward/base/time.ts'
import type { FolderEntryShown } from '@steward/protocol/working-folders.ts'
import { invalid } from '../../ground/core/errors.ts'
import { selectFirst } from './rounds.ts'

/** The name of the working folder in the session's folder, and in archives. */
export const workingFolderName = 'workspace'
export const workspaceRoot = `/${workingFolderName}`

/** The segments of a path below `/workspace`. */
export function parsePathSegments(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') && parts[0] !== 'workspace')
    throw invalid(`path: must lie below ${workspaceRoot}`)
  return path.startsWith('/') ? parts.slice(1) : parts
}

/** A path as archives have it: bytes as Latin-1 text. */
export const pathKeyOf = (parts: readonly string[]): string =>
  Buffer.from([workingFolderName, ...parts].join('/')).toString('latin1')

/** A path of an archive as people see it. */
export const shownPath = (entryPath: string): string =>
  `/${Buffer.from(entryPath, 'latin1').toString()}`

export const pathOf = (parts: readonly string[]): string => [workspaceRoot, ...parts].join('/')

/** A name as the bytes that it is. Folders come before everything else. */
export type EntryName = { isFolder: boolean; name: Buffer }

export const compareNames = (one: EntryName, other: EntryName): number =>
  Number(other.isFolder) - Number(one.isFolder) || Buffer.compare(one.name, other.name)

export type EntryPage = { limit: number; after: EntryName | undefined }
export type EntryListing = {
  entries: { at: EntryName; shown: FolderEntryShown }[]
  more: boolean
  isComplete: boolean
}

/** A page of names in their order, with whether more follow. */
export async function pageOfNames(
  names: readonly EntryName[],
  { limit, after }: EntryPage,
): Promise<{ page: EntryName[]; more: boolean }> {
  const isLater = after ? (each: EntryName) => compareNames(each, after) > 0 : () => true
  const first = await selectFirst(names.filter(isLater), compareNames, limit + 1)
  return { page: first.slice(0, limit), more: first.length > limit }
}

/** A sandbox sets any time it likes. */
const latestMs = Date.UTC(9999, 11, 31)
export const timeOf = (ms: number): string | null =>
  Number.isFinite(ms) && ms >= 0 && ms <= latestMs ? iso(Math.trunc(ms)) : null

export function shownName(name: Buffer): Pick<FolderEntryShown, 'name' | 'is_exact'> {
  const text = name.toString()
  return { name: text, is_exact: Buffer.from(text).equals(name) }
}
