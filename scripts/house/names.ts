import type { Source } from './sources.ts'

const declaration = /^(export )?(?:declare )?(?:type|interface|class|enum) (\w+)/gm

type Type = { name: string; path: string; exported: boolean }

export const typesOf = (sources: readonly Source[]): Type[] =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(declaration)].map(([, exported, name = '']) => ({
      name,
      path,
      exported: exported !== undefined,
    })),
  )

/** Names of types that several files declare, exported or not, because a reader meets each of them. */
export function repeatedNames(types: readonly Type[]): string[] {
  const all = types.map((type) => ({ ...type, exported: true }))
  return sharedNames(all)
}

/** Exported names that stand for different types in different files. */
export function sharedNames(types: readonly Type[]): string[] {
  const where = new Map<string, Set<string>>()
  for (const { name, path, exported } of types)
    if (exported) where.set(name, (where.get(name) ?? new Set()).add(path))
  return [...where]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(' ')}`)
}
