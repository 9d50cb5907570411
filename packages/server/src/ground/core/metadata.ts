import { invalid } from './errors.ts'

/** Pairs of one metadata object. [metadata/limits] */
const mostPairs = 16

/**
 * A value sets a key, null deletes it, and a key that is not named is kept. Text that is how a client was shown a value
 * of another type keeps that value. Throws `invalid_metadata` for more than 16
 * pairs after the merge. [metadata/limits]
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
