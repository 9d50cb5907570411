/**
 * Finds any of hundreds of patterns in one pass. The search looks up four bytes of every eight: each pattern in the
 * content has such four bytes at one of its first eight offsets.
 */
export type SearchedName = { name: string; patterns: readonly Buffer[] }

const step = 8
const window = 4
const shortest = step + window - 1

/** Hashes four bytes to 16 bits. */
const bucketOf = (bytes: number): number => Math.imul(bytes, 0x9e3779b1) >>> 16

type PatternMatch = { name: string; pattern: Buffer; at: number }

/** Returns a function that finds the names of the patterns in a content. */
export function finderOf(wanted: readonly SearchedName[]): (content: Buffer) => Set<string> {
  const sources = new Map<number, PatternMatch[]>()
  const buckets = new Uint8Array(1 << 16)
  for (const { name, patterns } of wanted)
    for (const pattern of patterns) {
      if (pattern.length < shortest) throw new Error(`${name}: a pattern is too short to be found`)
      for (let at = 0; at < step; at++) {
        const bytes = pattern.readInt32LE(at)
        buckets[bucketOf(bytes)] = 1
        sources.set(bytes, [...(sources.get(bytes) ?? []), { name, pattern, at }])
      }
    }

  return (content) => {
    const names = new Set<string>()
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
    for (let here = 0; here + window <= content.length; here += step) {
      const bytes = view.getInt32(here, true)
      if (buckets[bucketOf(bytes)] !== 1) continue
      for (const { name, pattern, at } of sources.get(bytes) ?? []) {
        const from = here - at
        if (from >= 0 && content.subarray(from, from + pattern.length).equals(pattern))
          names.add(name)
      }
    }
    return names
  }
}
