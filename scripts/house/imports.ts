/** Who imports whom, and the floors of .dependency-cruiser.cjs. */
import { createRequire } from 'node:module'
import { posix } from 'node:path'
import type { Source } from './sources.ts'
import { root } from './sources.ts'

type Import = { from: string; to: string }

const importing = /(?:\bfrom|\bimport) ?\(?'([^']+)'/g

export function targetOf(from: string, name: string): string | undefined {
  if (name.startsWith('.')) return posix.join(posix.dirname(from), name)
  const ours = /^@steward\/([\w-]+)\/(.+)$/.exec(name)
  return ours ? `packages/${ours[1]}/src/${ours[2]}` : undefined
}

/** Imports of types, which do nothing at run time. */
export const typeImport = /^(?:import|export) type (?:\w+|\{[^}]*\}|\*(?: as \w+)?) from '[^']+'/gm

/** What the files import for a value, from our packages. */
export const valueImportsOf = (sources: readonly Source[]): Import[] =>
  sources.flatMap(({ path, text }) =>
    [...text.replaceAll(typeImport, '').matchAll(importing)].flatMap(([, name = '']) => {
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
