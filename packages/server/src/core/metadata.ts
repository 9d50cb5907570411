import { invalid } from './errors.ts'

type Bag = Record<string, string>

/** A string sets a key, null deletes it, and what is not named is kept. contract.md 1 */
export function patched(kept: Bag, patch: Record<string, string | null>): Bag {
  const merged = Object.entries({ ...kept, ...patch })
  const next = merged.filter((pair): pair is [string, string] => pair[1] !== null)
  if (next.length > 16) throw invalid('metadata: at most 16 pairs')
  return Object.fromEntries(next)
}
