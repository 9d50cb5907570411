import { invalid } from '../errors.ts'

/** Pairs of one metadata object. [metadata/limits] */
const mostPairs = 16

/**
 * Merges a patch: a value sets a key, null deletes it, other keys stay. A client is shown values of other types as
 * text; such a text keeps the value. Throws `invalid_metadata` for more than 16 merged pairs. [metadata/limits]
 */
export function mergeMetadata<Value>(
  kept: Readonly<Record<string, Value>>,
  patch: Readonly<Record<string, Value | null>>,
): Record<string, Value> {
  const changes = Object.entries(patch).filter(([key, value]) => !isShown(kept[key], value))
  const pairs = Object.entries({ ...kept, ...Object.fromEntries(changes) }).filter(
    (pair): pair is [string, Value] => pair[1] !== null,
  )
  if (pairs.length > mostPairs) throw invalid('metadata: at most 16 pairs', 'invalid_metadata')
  return Object.fromEntries(pairs)
}

const isShown = (value: unknown, text: unknown): boolean =>
  value !== undefined && typeof value !== 'string' && text === JSON.stringify(value)
