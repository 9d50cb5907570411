/** Which names fit what somebody types, the best first. */

/** 0: does not fit. Every word that was typed stands in the name; a name that begins with all of it comes before others. */
function fit(name: string, wanted: string): number {
  const text = name.toLowerCase()
  if (text === wanted) return 4
  if (text.startsWith(wanted)) return 3
  const parts = wanted.split(/\s+/)
  if (!parts.every((part) => text.includes(part))) return 0
  const begins = text.split(/[^\p{L}\p{N}]+/u)
  return parts.every((part) => begins.some((word) => word.startsWith(part))) ? 2 : 1
}

/** Those of `all` with a name that fits, the best first; among equals the order stays. Nothing typed fits all. */
export function matching<Of>(
  all: readonly Of[],
  typed: string,
  namesOf: (each: Of) => readonly string[],
): Of[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return [...all]
  return all
    .map((each) => ({ each, fits: Math.max(0, ...namesOf(each).map((name) => fit(name, wanted))) }))
    .filter(({ fits }) => fits > 0)
    .toSorted((one, other) => other.fits - one.fits)
    .map(({ each }) => each)
}
