/**
 * Finds a text in a text, in time that grows with their lengths alone (Knuth-Morris-Pratt). Attack: for `aa…abaa…a` in a
 * megabyte of `a`, `indexOf`, `includes` and `split` take a minute; so texts that strangers choose are sought here.
 */

/** The first `most` places where `sought`, which is not empty, begins. Places do not overlap. */
export function findOccurrences(text: string, sought: string, most: number): number[] {
  if (sought.length > text.length) return []
  const borders = bordersOf(sought)
  const positions: number[] = []
  let length = 0
  for (let at = 0; at < text.length && positions.length < most; at++) {
    length = lengthWith(sought, borders, length, text.charCodeAt(at))
    if (length < sought.length) continue
    positions.push(at + 1 - length)
    length = 0
  }
  return positions
}

export const includesText = (text: string, sought: string): boolean =>
  sought === '' || findOccurrences(text, sought, 1).length > 0

/** For each beginning of the text: the length of its longest end, shorter than itself, that is a beginning too. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length)
  for (let at = 1; at < text.length; at++)
    borders[at] = lengthWith(text, borders, borders[at - 1] ?? 0, text.charCodeAt(at))
  return borders
}

/** The length of the beginning of `sought` that ends with this character, when one of `length` ended before it. */
function lengthWith(sought: string, borders: Int32Array, length: number, unit: number): number {
  let kept = length
  while (kept > 0 && sought.charCodeAt(kept) !== unit) kept = borders[kept - 1] ?? 0
  return sought.charCodeAt(kept) === unit ? kept + 1 : kept
}
