/** The lines that differ between two texts, with a little of what is the same around them. */
import { structuredPatch } from 'diff'

export type DiffLine =
  | { kind: 'same'; text: string; before: number; after: number }
  | { kind: 'removed'; text: string; before: number }
  | { kind: 'added'; text: string; after: number }
  /** Lines that are the same and not shown. */
  | { kind: 'gap' }

export type TextDiff = { lines: DiffLine[]; added: number; removed: number }

export function diffOf(before: string, after: string, context = 3): TextDiff {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context })
  const lines: DiffLine[] = []
  for (const { oldStart, newStart, lines: changed } of hunks) {
    if (lines.length > 0 || oldStart > 1) lines.push({ kind: 'gap' })
    let [old, now] = [oldStart, newStart]
    for (const line of changed) {
      const text = line.slice(1)
      if (line.startsWith('-')) lines.push({ kind: 'removed', text, before: old++ })
      else if (line.startsWith('+')) lines.push({ kind: 'added', text, after: now++ })
      else if (line.startsWith(' ')) lines.push({ kind: 'same', text, before: old++, after: now++ })
    }
  }
  const count = (kind: DiffLine['kind']) => lines.filter((each) => each.kind === kind).length
  return { lines, added: count('added'), removed: count('removed') }
}
