/** Finds and replaces texts in files, whose lines may end otherwise than a model writes them. */
import { findOccurrences } from '@steward/base/occurrences.ts'

export type Occurrence = { from: number; to: number }
type Replacement = { old_string: string; new_string: string }

/**
 * The first `most` places of `old_string`. Where it does not stand as it is, its line ends fit those of the file too:
 * models write \n, and many files have \r\n.
 */
export function occurrencesIn(text: string, old_string: string, most: number): Occurrence[] {
  const exact = findOccurrences(text, old_string, most)
  if (exact.length > 0 || !isOfPlainLines(old_string) || !text.includes('\r\n'))
    return exact.map((from) => ({ from, to: from + old_string.length }))
  const plain = text.replaceAll('\r\n', '\n')
  const offsetOf = offsetsIn(text)
  return findOccurrences(plain, old_string, most).map((from) => ({
    from: offsetOf(from),
    to: offsetOf(from + old_string.length),
  }))
}

/** A text that names \r itself is taken at its word. */
const isOfPlainLines = (text: string): boolean => text.includes('\n') && !text.includes('\r')

/** Offsets in the text by those in the text with plain line ends. Ask in rising order. */
function offsetsIn(text: string): (plain: number) => number {
  let ends = 0
  let next = text.indexOf('\r\n')
  return (plain) => {
    while (next !== -1 && next - ends < plain) {
      ends++
      next = text.indexOf('\r\n', next + 2)
    }
    return plain + ends
  }
}

/** The texts that stand at the places afterwards: with the line ends that the file has there. */
export function textsFor(
  text: string,
  occurrences: readonly Occurrence[],
  { old_string, new_string }: Replacement,
): string[] {
  if (!isOfPlainLines(new_string) || old_string.includes('\r'))
    return occurrences.map(() => new_string)
  const crlf = new_string.replaceAll('\n', '\r\n')
  const endsAt = lineEndsIn(text)
  return occurrences.map(({ from }) => (endsAt(from) ? crlf : new_string))
}

/** Says whether the line at an offset, or the one before the last end, ends with \r\n. Ask in rising order. */
function lineEndsIn(text: string): (at: number) => boolean {
  let end = -1
  let isCrlf = false
  let isLast = false
  return (at) => {
    while (!isLast && end < at) {
      const next = text.indexOf('\n', Math.max(at, end + 1))
      if (next === -1) {
        isLast = true
        const before = text.lastIndexOf('\n')
        if (end === -1 && before !== -1) isCrlf = text[before - 1] === '\r'
      } else {
        end = next
        isCrlf = text[next - 1] === '\r'
      }
    }
    return isCrlf
  }
}

export function withReplaced(
  text: string,
  occurrences: readonly Occurrence[],
  texts: readonly string[],
): string {
  const parts: string[] = []
  let at = 0
  for (const [index, { from, to }] of occurrences.entries()) {
    parts.push(text.slice(at, from), texts[index] ?? '')
    at = to
  }
  return [...parts, text.slice(at)].join('')
}
