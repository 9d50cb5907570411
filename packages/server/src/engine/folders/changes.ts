/** The net diff of a working folder between two times, from checkpoints and the live folder, without git. */
import type { FolderChangesShown, FolderPointShown } from '@steward/protocol/folder-changes.ts'
import type { FolderIndex } from '@steward/space/working-folder/archive-index.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { readHead } from '../../sessions/log/head.ts'
import type { ResourceRow } from '../../sessions/rows/resources.ts'
import { resourceStore } from '../../sessions/rows/resources.ts'
import type { ShownSessionRow } from '../../sessions/rows/sessions.ts'
import type { Archives } from './archives.ts'
import type { FolderChange } from './compare.ts'
import { compareFolders } from './compare.ts'
import { diffFiles, sumChanges } from './file-diffs.ts'
import { pathKeyOf, workingFolderName, shownPath, workspaceRoot } from './folder-entry.ts'
import { indexLive } from './live-index.ts'
import type { FolderPoint } from './points.ts'
import { oldestPoint, pointAt, pointNow, startPoint } from './points.ts'
import { selectFirst } from './rounds.ts'
import type { FolderViews } from './session-folders.ts'

export type ChangesDeps = { folders: FolderViews; archives: Archives }
export type ChangesAsked = {
  from: 'start' | number
  to: 'now' | number
  /** Segments of a path below the working folder. */
  parts: readonly string[]
}
export type ChangesCall = {
  db: Reads
  tenant: string
  session: ShownSessionRow
  signal: AbortSignal
}
type KnownPoint = Exclude<FolderPoint, { source: 'unknown' }>
/** `isCompared`: false where nothing below the path is. */
type Gap = { path: string; reason: string; isCompared: boolean }

const mostFiles = 1_000

export async function folderChanges(
  deps: ChangesDeps,
  call: ChangesCall,
  asked: ChangesAsked,
): Promise<FolderChangesShown> {
  await checkSpan(call, asked)
  const from = await (asked.from === 'start' ? startPoint(call) : pointAt(call, asked.from))
  const to = await (asked.to === 'now' ? nowOf(deps, call) : pointAt(call, asked.to))
  if (from.source === 'unknown') return unknownChanges(from.reason)
  if (to.source === 'unknown') return unknownChanges(to.reason)
  return deps.archives.within(call.tenant, call.signal, (signal) =>
    changesBetween(deps, { ...call, signal }, { from, to, inside: pathKeyOf(asked.parts) }),
  )
}

async function checkSpan(
  { db, tenant, session }: ChangesCall,
  { from, to }: ChangesAsked,
): Promise<void> {
  const { next_seq } = await readHead(db, tenant, session.id)
  const ends = `the log of session ${session.id} ends with event ${next_seq}`
  if (from !== 'start' && from > next_seq) throw invalid(`from: ${ends}`)
  if (to !== 'now' && to > next_seq) throw invalid(`to: ${ends}`)
  if (from !== 'start' && to !== 'now' && from > to) throw invalid('from: must not lie behind to')
}

async function nowOf({ folders }: ChangesDeps, call: ChangesCall): Promise<FolderPoint> {
  return pointNow(call, await folders.find({ tenant: call.tenant, session: call.session.id }))
}

async function changesBetween(
  { archives }: ChangesDeps,
  call: ChangesCall,
  { from, to, inside }: { from: KnownPoint; to: KnownPoint; inside: string },
): Promise<FolderChangesShown> {
  const { signal } = call
  const index = indexer(archives, signal)
  const resources = await resourceStore(call.db).ofSession(call.tenant, call.session.id)
  const began = await clonesOf(call, { from, index, resources })
  const [before, after] = [await index(from), await index(to)]
  const gaps = [...began.gaps, ...before.gaps, ...after.gaps]
  for (const [path, entry] of began.entries) before.entries.set(path, entry)
  const mounted = new Set(
    resources.flatMap(({ type, resolved_path: path }) => (type === 'file' ? [path.slice(1)] : [])),
  )
  const isOpen = (path: string) =>
    isAtOrBelow(path, inside) &&
    !isOfGit(path) &&
    !mounted.has(path) &&
    !gaps.some((gap) => !gap.isCompared && isAtOrBelow(path, gap.path))
  const changes = await compareFolders(before.entries, after.entries, isOpen)
  const own = to.source === 'live' ? to.own : undefined
  const listed = await selectFirst(withDepths(changes), compareDepths, mostFiles)
  const rows = listed.map(({ change }) => change)
  const files = await diffFiles(archives, rows, { own, signal })
  const left = [...gaps, ...gitGaps(before.entries, after.entries)].filter(
    ({ path }) => isAtOrBelow(path, inside) || isAtOrBelow(inside, path),
  )
  const left_out = left.map(({ path, reason }) => ({ path: shownPath(path), files: 0, reason }))
  if (changes.length > files.length)
    left_out.push({
      path: shownPath(inside),
      files: changes.length - files.length,
      reason: `one answer lists ${mostFiles} files, those in few folders first: ask for a path below`,
    })
  return {
    type: 'folder_changes',
    state: 'known',
    reason: null,
    from: shownPoint(from),
    to: shownPoint(to),
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    totals: sumChanges(changes, files),
    left_out,
  }
}

type DeepChange = { change: FolderChange; depth: number }

/** Files in few folders come first: people have written those rather than a program that installs. */
function* withDepths(changes: readonly FolderChange[]): Generator<DeepChange> {
  for (const change of changes) yield { change, depth: change.path.split('/').length }
}

const compareDepths = (one: DeepChange, other: DeepChange): number =>
  one.depth - other.depth || (one.change.path < other.change.path ? -1 : 1)

type IndexedPoint = { entries: FolderIndex; gaps: Gap[] }

function indexer(archives: Archives, signal: AbortSignal) {
  const index = archives.indexer(signal)
  return async (point: KnownPoint): Promise<IndexedPoint> => {
    if (point.source === 'empty') return { entries: new Map(), gaps: [] }
    if (point.source === 'checkpoint') return { entries: await index(point.parts), gaps: [] }
    const asked = { folder: point.own, root: workingFolderName, skipped: '.git' }
    const { entries, unread } = await indexLive(asked, signal)
    return { entries, gaps: unread.map((each) => ({ ...each, isCompared: false })) }
  }
}

/**
 * A session that begins with a repository has no checkpoint of the fresh clone. Its files are compared with the earliest
 * checkpoint, and the answer says so.
 */
async function clonesOf(
  call: ChangesCall,
  {
    from,
    index,
    resources,
  }: {
    from: KnownPoint
    index: (point: KnownPoint) => Promise<IndexedPoint>
    resources: readonly ResourceRow[]
  },
): Promise<IndexedPoint> {
  const clones = resources
    .filter(({ type, resolved_path: path }) => {
      return type === 'github_repository' && path.startsWith(workspaceRoot)
    })
    .map(({ resolved_path: path }) => path.slice(1))
  const entries: FolderIndex = new Map()
  if (from.source !== 'empty' || clones.length === 0) return { entries, gaps: [] }
  const oldest = await oldestPoint(call)
  const reason = oldest
    ? `the repository was cloned here, and its files are compared with the checkpoint of ${oldest.at ?? 'an earlier time'}: what was changed in them before is not shown`
    : 'the repository was cloned here, and no checkpoint holds it as it was before'
  if (oldest)
    for (const [path, entry] of (await index(oldest)).entries)
      if (clones.some((clone) => isAtOrBelow(path, clone))) entries.set(path, entry)
  const isCompared = oldest !== undefined
  return { entries, gaps: clones.map((path) => ({ path, reason, isCompared })) }
}

const isAtOrBelow = (path: string, above: string): boolean =>
  path === above || path.startsWith(`${above}/`)

const isOfGit = (path: string): boolean => path.split('/').includes('.git')

const gitGaps = (...indexes: readonly FolderIndex[]): Gap[] => {
  const found = new Set<string>()
  for (const index of indexes)
    for (const path of index.keys())
      if (path.endsWith('/.git') && !isOfGit(path.slice(0, -'/.git'.length))) found.add(path)
  const reason = 'what git keeps is not compared'
  return [...found].map((path) => ({ path, reason, isCompared: false }))
}

const unknownChanges = (reason: string): FolderChangesShown => ({
  type: 'folder_changes',
  state: 'unknown',
  reason,
  from: null,
  to: null,
  files: [],
  totals: sumChanges([], []),
  left_out: [],
})

function shownPoint(point: KnownPoint): FolderPointShown {
  if (point.source === 'empty') return { source: 'empty', seq: null, at: null }
  const seq = point.source === 'checkpoint' ? point.seq : null
  return { source: point.source, seq, at: point.at }
}
