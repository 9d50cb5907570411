/** Searches the sources by pattern, and reports each match with its line. */
import type { Source } from './sources.ts'

/** Returns each match as `path:line: its line`. */
export const matches = (sources: readonly Source[], pattern: RegExp): string[] =>
  sources.flatMap(({ path, text, lines }) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${path}:${line}: ${lines[line - 1]?.trim()}`
    }),
  )

/** `JSON.parse(…) as T`, on one line or several; `as unknown` claims nothing. */
export const rowCasts = /\bJSON\.parse\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s+as (?!unknown\b)/g

/** `const row: T = JSON.parse(…)` claims as much as `as T`. */
export const typedParses =
  /\b(?:const|let) (?:\w+|[{[][^=;]*[}\]]): (?!unknown\b)[^=;]+ = JSON\.parse\(/g

/** `...{ a, b }` inside of an object literal, and `...(['a', 'b'] as const)` inside of a list. */
export const splitLiterals = /\.\.\.(?:\{\s|\(\[)/g

/** Timers that repeat. */
export const intervals = /\bsetInterval\(/g
