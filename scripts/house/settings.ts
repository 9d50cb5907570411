import type { Source } from './sources.ts'

const declared = /\bsetting\(\s*'([A-Z][A-Z0-9_]{3,})'/g
const stated = /'([A-Z][A-Z0-9_]{3,})'|\.([A-Z][A-Z0-9_]{3,})\b|\b([A-Z][A-Z0-9_]{3,}):/g

/** Settings whose name stands in the code of more than one file: declared in one, read by name in another. */
export function scatteredSettings(sources: readonly Source[]): string[] {
  const names = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(declared)].map(([, name = '']) => name)),
  )
  if (names.size === 0) throw new Error("no file declares a setting as setting('NAME', …)")
  const files = new Map<string, Set<string>>()
  for (const { path, text } of sources)
    for (const [, quoted, member, key] of text.matchAll(stated)) {
      const name = quoted ?? member ?? key ?? ''
      if (names.has(name)) files.set(name, (files.get(name) ?? new Set()).add(path))
    }
  return [...files]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(' ')}`)
}
