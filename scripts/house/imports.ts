/** Compares imports with the floors in .dependency-cruiser.cjs, the only place of the floors. */
import { createRequire } from 'node:module'
import { posix } from 'node:path'
import type { Source } from './sources.ts'
import { root } from './sources.ts'

type Rule = {
  name: string
  from: { path?: string; pathNot?: string }
  to: { path?: string }
}
type Import = { from: string; to: string }

const floors = /looks down only$|stands above them$|is a room with a floor$/
const importing = /(?:\bfrom|\bimport) ?\(?'([^']+)'/g

export function targetOf(from: string, name: string): string | undefined {
  if (name.startsWith('.')) return posix.join(posix.dirname(from), name)
  const ours = /^@steward\/([\w-]+)\/(.+)$/.exec(name)
  return ours ? `packages/${ours[1]}/src/${ours[2]}` : undefined
}

export const importsOf = (sources: readonly Source[]): Import[] =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(importing)].flatMap(([, name = '']) => {
      const to = targetOf(path, name)
      return to === undefined ? [] : [{ from: path, to }]
    }),
  )

/** Number of floors of each wing, without the files beside the rooms. */
export function floorsOf(): [string, number][] {
  const { rooms } = createRequire(import.meta.url)(`${root}.dependency-cruiser.cjs`) as {
    rooms: Record<string, unknown[]>
  }
  return Object.entries(rooms).map(([wing, floors]) => [wing, floors.length])
}

/** Imports that go up or sideways, between packages, wings or rooms. */
export function upwards(imports: readonly Import[]): string[] {
  const config = createRequire(import.meta.url)(`${root}.dependency-cruiser.cjs`) as {
    forbidden: Rule[]
  }
  const rules = config.forbidden
    .filter(({ name }) => floors.test(name))
    .map(({ name, from, to }) => ({
      name,
      from: new RegExp(from.path ?? ''),
      except: from.pathNot === undefined ? /$^/ : new RegExp(from.pathNot),
      to: new RegExp(to.path ?? ''),
    }))
  if (rules.length === 0) throw new Error('.dependency-cruiser.cjs has no rules of floors')
  const rulesFrom = new Map<string, typeof rules>()
  const applying = (path: string) => {
    const known = rulesFrom.get(path)
    if (known) return known
    const found = rules.filter(({ from, except }) => from.test(path) && !except.test(path))
    rulesFrom.set(path, found)
    return found
  }
  return imports.flatMap(({ from, to }) =>
    applying(from)
      .filter((rule) => rule.to.test(to))
      .map(({ name }) => `${from} imports ${to}: ${name}`),
  )
}

/** Imports in a cycle: the imports that remain after files without imports are removed again and again. */
export function circles(imports: readonly Import[]): string[] {
  let left = [...imports]
  for (;;) {
    const importers = new Set(left.map(({ from }) => from))
    const next = left.filter(({ to }) => importers.has(to))
    if (next.length === left.length) return left.map(({ from, to }) => `${from} imports ${to}`)
    left = next
  }
}
