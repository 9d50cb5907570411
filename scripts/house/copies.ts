/** Finds runs of lines that stand in two places and differ at most in white space. */
import type { Source } from './sources.ts'

/** Shortest run, in lines. Shorter runs are usual in the language. */
const least = 6
/** A run that stands in more places is an idiom. */
const most = 8

type Line = { text: string; number: number }
type CodePosition = { file: number; at: number }

const imports = /^import\b[^'"]*['"][^'"\n]+['"];?$/gm
const comments = /(?<=^|\s)\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
const blank = (text: string) => text.replace(/[^\n]/g, '')

/** Lines with a word in them, without imports and comments. */
const linesOf = ({ text }: Source): Line[] =>
  text
    .replace(comments, blank)
    .replace(imports, blank)
    .split('\n')
    .map((line, index) => ({ text: line.trim().replace(/\s+/g, ' '), number: index + 1 }))
    .filter((line) => /\w/.test(line.text))

const windowsOf = (lines: readonly Line[]): string[] =>
  lines.slice(0, 1 - least).map((_, at) =>
    lines
      .slice(at, at + least)
      .map((line) => line.text)
      .join('\n'),
  )

function positionsOf(files: readonly (readonly Line[])[]): CodePosition[][] {
  const where = new Map<string, CodePosition[]>()
  for (const [file, lines] of files.entries())
    for (const [at, window] of windowsOf(lines).entries()) {
      const known = where.get(window)
      if (known) known.push({ file, at })
      else where.set(window, [{ file, at }])
    }
  return [...where.values()].filter(({ length }) => length > 1 && length <= most)
}

/** Returns one line for each pair of places, at the longest run that the two places share. */
export function copies(sources: readonly Source[]): string[] {
  const files = sources.map(linesOf)
  const pairs = new Map<string, [CodePosition, CodePosition]>()
  const key = (a: CodePosition, b: CodePosition) => `${a.file} ${a.at} ${b.file} ${b.at}`
  for (const where of positionsOf(files))
    for (const [i, a] of where.entries())
      for (const b of where.slice(i + 1))
        if (a.file !== b.file || b.at >= a.at + least) pairs.set(key(a, b), [a, b])
  const before = ({ file, at }: CodePosition): CodePosition => ({ file, at: at - 1 })
  const after = ({ file, at }: CodePosition): CodePosition => ({ file, at: at + 1 })
  const shown = ({ file, at }: CodePosition, length: number) => {
    const lines = files[file] ?? []
    const last = lines[at + length - 1]
    return `${sources[file]?.path}:${lines[at]?.number}-${last?.number}`
  }
  return [...pairs.values()].flatMap(([a, b]) => {
    if (pairs.has(key(before(a), before(b)))) return []
    let length = least
    let [nextA, nextB] = [after(a), after(b)]
    while (pairs.has(key(nextA, nextB))) {
      ;[nextA, nextB] = [after(nextA), after(nextB)]
      length++
    }
    return [`${shown(a, length)} ~ ${shown(b, length)}`]
  })
}
