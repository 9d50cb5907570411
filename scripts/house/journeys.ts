/** Reads the journeys of docs/architecture.md: the files that a reader opens, in order, and their total length. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { Source } from './sources.ts'
import { root } from './sources.ts'

export type Journey = { title: string; files: string[]; lines: number; missing: string[] }

const page = 'docs/architecture.md'
const server = 'packages/server/src/'

/** The paths in a cell. A name without a folder lies beside the file before it in its row. */
function pathsOf(cell: string): string[] {
  let folder = server
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    if (name.startsWith('packages/')) folder = `${posix.dirname(name)}/`
    else if (name.includes('/')) folder = `${server}${posix.dirname(name)}/`
    return folder + posix.basename(name)
  })
}

export function journeys(sources: readonly Source[]): Journey[] {
  const lengths = new Map(sources.map(({ path, lines }) => [path, lines.length]))
  const text = readFileSync(`${root}${page}`, 'utf8')
  const parts = text.split(/^## /m).filter((part) => part.startsWith('Journey '))
  if (parts.length !== 3)
    throw new Error(`${page} must tell three journeys, each under "## Journey …"`)
  return parts.map((part) => {
    const cells = [...part.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
    const files = [...new Set(cells.flatMap(pathsOf))]
    return {
      title: part.split('\n')[0]?.replace(/^Journey \d+: /, '') ?? '',
      files,
      lines: files.reduce((sum, path) => sum + (lengths.get(path) ?? 0), 0),
      missing: files.filter((path) => !lengths.has(path)).map((path) => `${page}: ${path}`),
    }
  })
}
