/** Bounds of the context that an agent reads. */
import type { ContextData } from '../../ground/database/tables/integrations.ts'

const mostCharactersOfText = 4_000

/** The beginning of a text. */
export function beginningOf(text: string, most = mostCharactersOfText): string {
  if (text.length <= most) return text.toWellFormed()
  return `${text.slice(0, most).toWellFormed()} [${text.length - most} more characters]`
}

type Entry = { readonly [label: string]: ContextData }

/**
 * The first entry, and as many of the newest as have room, in order. Between them a note tells how many were left out.
 */
export function boundedEntries(entries: readonly Entry[], mostCharacters: number): Entry[] {
  const [first, ...rest] = entries
  if (!first) return []
  let left = mostCharacters - JSON.stringify(first).length
  const kept: Entry[] = []
  for (const entry of rest.toReversed()) {
    left -= JSON.stringify(entry).length
    if (left < 0) break
    kept.unshift(entry)
  }
  const leftOut = rest.length - kept.length
  return [first, ...(leftOut > 0 ? [{ left_out: leftOut }] : []), ...kept]
}
