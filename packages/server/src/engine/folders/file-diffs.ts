/** Changed files as people see them, with the lines that differ. */
import type { FolderChangesShown, FolderChangeShown } from '@steward/protocol/folder-changes.ts'
import type { IndexedEntry } from '@steward/space/working-folder/archive-index.ts'
import type { Archives } from './archives.ts'
import type { FolderChange } from './compare.ts'
import { shownPath } from './folder-entry.ts'
import type { LineDiff, TextPair } from './line-diffs.ts'
import { diffLines } from './line-diffs.ts'
import type { Contents } from './texts.ts'
import { chosenChanges, isShort, entryKey, readContents, decodeFileText } from './texts.ts'

/** Characters of all diffs of one answer. */
const mostDiff = 4 * 1024 * 1024

type Reason = FolderChangeShown['diff_reason']

export async function diffFiles(
  archives: Archives,
  changes: readonly FolderChange[],
  reading: { own: string | undefined; signal: AbortSignal },
): Promise<FolderChangeShown[]> {
  const chosen = chosenChanges(changes)
  const entries = [...chosen].flatMap(({ before, after }) => [before ?? [], after ?? []].flat())
  const contents = await readContents(archives, entries, reading)
  const pairs: TextPair[] = []
  const positions = new Map<FolderChange, number>()
  for (const change of chosen) {
    const pair = pairOf(change, contents)
    if (pair) positions.set(change, pairs.push(pair) - 1)
  }
  const diffs = await diffLines(pairs, reading.signal)
  let characters = 0
  return changes.map((change) => {
    const position = positions.get(change)
    const diff = position === undefined ? undefined : diffs.get(position)
    characters += diff?.text.length ?? 0
    const reason = diff
      ? characters > mostDiff
        ? 'too_many'
        : null
      : reasonOf(change, { isChosen: chosen.has(change), isText: position !== undefined })
    return shownChange(change, diff, reason)
  })
}

/** Undefined where one of the two is no text, or has gone meanwhile. */
function pairOf({ path, before, after }: FolderChange, contents: Contents): TextPair | undefined {
  const textIn = (entry: IndexedEntry | undefined): string | null | undefined => {
    if (!entry) return null
    const bytes = contents.get(entryKey(entry))
    return bytes && decodeFileText(bytes)
  }
  const [from, to] = [textIn(before), textIn(after)]
  if (from === undefined || to === undefined) return undefined
  return { name: shownPath(path).slice(1), before: from, after: to }
}

function reasonOf(
  { previousPath, before, after }: FolderChange,
  { isChosen, isText }: { isChosen: boolean; isText: boolean },
): Reason {
  if (previousPath !== null) return 'same_content'
  if ([before, after].some((entry) => entry && entry.kind !== 'file')) return 'not_a_file'
  if (!isShort(before) || !isShort(after)) return 'too_long'
  if (!isChosen) return 'too_many'
  return isText ? 'too_long' : 'binary'
}

function shownChange(
  change: FolderChange,
  diff: LineDiff | undefined,
  diff_reason: Reason,
): FolderChangeShown {
  const { path, before, after, previousPath } = change
  const kind = (after ?? before)?.kind
  const sizeOf = (entry: IndexedEntry | undefined) => (entry?.kind === 'file' ? entry.size : null)
  return {
    path: shownPath(path),
    previous_path: previousPath === null ? null : shownPath(previousPath),
    change: kindOf(change),
    kind: kind === 'file' || kind === 'link' ? kind : 'other',
    size: sizeOf(after),
    previous_size: sizeOf(before),
    lines_added: diff?.added ?? null,
    lines_removed: diff?.removed ?? null,
    diff: diff && diff_reason === null ? diff.text : null,
    diff_reason,
  }
}

/** `files`: those of the changes whose lines were looked at. */
export function sumChanges(
  changes: readonly FolderChange[],
  files: readonly FolderChangeShown[],
): FolderChangesShown['totals'] {
  const totals = { added: 0, changed: 0, removed: 0, renamed: 0 }
  for (const change of changes) totals[kindOf(change)] += 1
  const sum = (field: 'lines_added' | 'lines_removed') =>
    files.reduce((total, file) => total + (file[field] ?? 0), 0)
  const isCut = files.some(
    ({ diff_reason: why, lines_added: lines }) =>
      lines === null && (why === 'too_long' || why === 'too_many'),
  )
  return {
    ...totals,
    lines_added: sum('lines_added'),
    lines_removed: sum('lines_removed'),
    lines_are_complete: changes.length === files.length && !isCut,
  }
}

const kindOf = ({ before, after, previousPath }: FolderChange): FolderChangeShown['change'] =>
  previousPath !== null ? 'renamed' : !before ? 'added' : after ? 'changed' : 'removed'
