/**
 * Matches glob patterns, which a model writes. They are not turned into regular expressions, so that the work is
 * bounded by the length of the pattern times the length of the path. Supports `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**`
 * for any number of folders, and `\` before a literal character. Names with a leading dot match like others.
 */
const mostAlternatives = 64
/** Characters of all alternatives together. */
const longestAlternatives = 2_000
const many = Symbol('any number')

type AnyNumber = typeof many
type LetterTest = (letter: string) => boolean
type GlobSegment = readonly (LetterTest | AnyNumber)[]

/**
 * Returns a function that matches paths without a leading slash; undefined when the pattern has too many or too long
 * alternatives. Attack: deep folders and long alternatives take a tenth of a second for one path, so the caller gives
 * other work a turn between paths.
 */
export function globMatcher(pattern: string): ((path: string) => boolean) | undefined {
  const alternatives = expand(pattern)?.map((each) =>
    each
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .map((name) => (name === '**' ? many : segment(name))),
  )
  if (!alternatives) return undefined
  return (path) => {
    const names = path.split('/').map((name) => Array.from(name))
    return alternatives.some((segments) => matches(segments, names, matchesName))
  }
}

/** Folders that a walk passes over, also where a pattern names them. */
const passedOver = new Set(['.git', 'node_modules'])

/**
 * Splits off the folders that the pattern names without a wildcard. A walk that begins there comes through a link to a
 * folder, and passes over less.
 */
export function splitGlob(pattern: string): { folder: string; rest: string } {
  const names = pattern.split('/')
  const isPlain = (name: string) => !/[*?[\]{}\\]/.test(name) && !passedOver.has(name)
  const first = names.findIndex((name) => !isPlain(name))
  const at = first === -1 ? names.length - 1 : first
  return { folder: names.slice(0, at).join('/'), rest: names.slice(at).join('/') }
}

const matchesName = (name: GlobSegment, letters: readonly string[]): boolean =>
  matches(name, letters, (isLetter, letter) => isLetter(letter))

/** After a failure behind a `many`, the last `many` takes one more item. Earlier ones need not be reconsidered. */
function matches<Part, Item>(
  parts: readonly (Part | AnyNumber)[],
  items: readonly Item[],
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let [part, item] = [0, 0]
  let back: { part: number; item: number } | undefined
  while (item < items.length) {
    const wanted = parts[part]
    const found = items[item]
    if (wanted === many) back = { part: part++, item }
    else if (wanted !== undefined && found !== undefined && fits(wanted, found)) {
      part++
      item++
    } else if (back) {
      back.item++
      part = back.part + 1
      item = back.item
    } else return false
  }
  while (parts[part] === many) part++
  return part === parts.length
}

/** Expands braces, nested ones too. Braces without a comma or without an end are literal. */
function expand(pattern: string): string[] | undefined {
  const done: string[] = []
  const waiting = [pattern]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const braces = firstBraces(next)
    if (!braces) done.push(next)
    else {
      const before = next.slice(0, braces.from)
      const behind = next.slice(braces.to + 1)
      waiting.push(...braces.choices.map((choice) => before + choice + behind))
    }
    if (done.length + waiting.length > mostAlternatives) return undefined
  }
  return done.join('').length > longestAlternatives ? undefined : done
}

function firstBraces(text: string): { from: number; to: number; choices: string[] } | undefined {
  const open: { from: number; commas: number[] }[] = []
  let found: { from: number; to: number; choices: string[] } | undefined
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '{') open.push({ from: at, commas: [] })
    else if (text[at] === ',') open.at(-1)?.commas.push(at)
    else if (text[at] === '}') {
      const { from, commas } = open.pop() ?? { from: 0, commas: [] }
      if (commas.length === 0) continue
      const edges = [from, ...commas, at]
      const choices = edges.slice(1).map((edge, index) => text.slice((edges[index] ?? 0) + 1, edge))
      if (!found || from < found.from) found = { from, to: at, choices }
      if (open.length === 0) return found
    }
  }
  return found
}

function segment(name: string): GlobSegment {
  const letters = Array.from(name)
  const parts: (LetterTest | AnyNumber)[] = []
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at]
    const set = letter === '[' ? setAt(letters, at) : undefined
    if (letter === '*') parts.push(many)
    else if (letter === '?') parts.push(() => true)
    else if (set) {
      parts.push(set.has)
      at = set.to
    } else {
      const meant = letter === '\\' && at + 1 < letters.length ? letters[++at] : letter
      parts.push((other) => other === meant)
    }
  }
  return parts
}

/** `[abc]`, `[a-z]`, `[!a]` or `[^a]`. A `]` directly after the opening is literal. */
function setAt(
  letters: readonly string[],
  from: number,
): { has: LetterTest; to: number } | undefined {
  const isNegated = letters[from + 1] === '!' || letters[from + 1] === '^'
  const first = from + (isNegated ? 2 : 1)
  const to = letters.indexOf(']', first + 1)
  if (to === -1) return undefined
  const ranges: [string, string][] = []
  for (let at = first; at < to; at++) {
    const low = letters[at] ?? ''
    const isRange = letters[at + 1] === '-' && at + 2 < to
    ranges.push([low, isRange ? (letters[at + 2] ?? '') : low])
    if (isRange) at += 2
  }
  const has: LetterTest = (letter) =>
    ranges.some(([low, high]) => low <= letter && letter <= high) !== isNegated
  return { has, to }
}
