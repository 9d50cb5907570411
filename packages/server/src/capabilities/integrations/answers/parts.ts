/** Splits a reply that is longer than one message at its provider. */
import type { Telling } from '../integration.ts'

/** The most messages of one reply. The last one says how much is left. */
const mostParts = 10
/** What a provider's adapter may add to a part: marks, links, and letters that make mentions harmless. */
const share = 0.9

/** Whatever the line has behind the mark matches, so that a long line is read once. */
const fenceLine = /^ {0,3}(`{3,}|~{3,})([\s\S]*)$/

/** A fence that begins code. */
export type CodeFence = { mark: string; line: string }

/** The fence of code that is open behind the line. */
export function fenceBehind(open: CodeFence | undefined, line: string): CodeFence | undefined {
  const [, mark, info = ''] = fenceLine.exec(line) ?? []
  if (mark === undefined) return open
  if (!open) return { mark, line: `${mark}${info}` }
  return mark.startsWith(open.mark) && info.trim() === '' ? undefined : open
}

/** The fence of code that is open at the end of the text. */
const openFence = (text: string): CodeFence | undefined =>
  text.split('\n').reduce<CodeFence | undefined>(fenceBehind, undefined)

/** Where a part of at most `most` characters ends: behind a paragraph, a line or a word, where one is near. */
function endOfPart(text: string, most: number): number {
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(mark, most)
    if (at > most / 2) return at
  }
  // Half of a surrogate pair is no character.
  return /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most
}

/** A block of code that is divided is closed in one part, and opened again in the next. */
export function splitText(text: string, most: number): string[] {
  const parts: string[] = []
  let left = text
  while (left.length > most && parts.length < mostParts - 1) {
    const end = endOfPart(left, most)
    const part = left.slice(0, end)
    const fence = openFence(part)
    parts.push(fence ? `${part}\n${fence.mark}` : part)
    const rest = left.slice(end).replace(/^\s*\n|^ /, '')
    left = fence ? `${fence.line}\n${rest}` : rest
  }
  return [...parts, left]
}

export function inParts(telling: Telling, mostCharacters: number | undefined): Telling[] {
  if (telling.kind !== 'reply' || mostCharacters === undefined) return [telling]
  const most = Math.floor(mostCharacters * share)
  if (telling.text.length <= most) return [telling]
  const [first = '', ...rest] = splitText(telling.text, most)
  const more = rest.map((text, index): Telling => ({
    kind: 'more',
    id: `${telling.id}.${index + 2}`,
    text,
  }))
  return [{ ...telling, text: first }, ...more]
}
