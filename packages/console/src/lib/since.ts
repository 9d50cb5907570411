/** A span of time as filters write it: `12h`, `7d`, `2w`. */
const units: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Milliseconds, or undefined for anything else. */
export function spanOf(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([hdw])$/.exec(text) ?? []
  const size = units[unit]
  return size === undefined ? undefined : Number(count) * size
}
