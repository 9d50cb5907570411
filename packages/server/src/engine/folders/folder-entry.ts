/** An entry of a folder of a session, live or in a checkpoint, and the order in which entries are listed. */
import { iso } from '@steward/base/time.ts'
import type { FolderEntryShown } from '@steward/protocol/working-folders.ts'
import { invalid } from '../../ground/core/errors.ts'

export const workspaceRoot = '/workspace'

/** The segments of a path below `/workspace`. */
export function segmentsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') && parts[0] !== 'workspace')
    throw invalid(`path: must lie below ${workspaceRoot}`)
  return path.startsWith('/') ? parts.slice(1) : parts
}

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
export function pageOfNames(
  names: readonly EntryName[],
  { limit, after }: EntryPage,
): { page: EntryName[]; more: boolean } {
  const later = after ? names.filter((each) => compareNames(each, after) > 0) : [...names]
  later.sort(compareNames)
  return { page: later.slice(0, limit), more: later.length > limit }
}

/** A sandbox sets any time it likes. */
const latestMs = Date.UTC(9999, 11, 31)
export const timeOf = (ms: number): string | null =>
  Number.isFinite(ms) && ms >= 0 && ms <= latestMs ? iso(Math.trunc(ms)) : null

export function shownName(name: Buffer): Pick<FolderEntryShown, 'name' | 'is_exact'> {
  const text = name.toString()
  return { name: text, is_exact: Buffer.from(text).equals(name) }
}
