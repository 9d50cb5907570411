/** For tests: random numbers that a seed reproduces. */
export type Random = {
  below(n: number): number
  of<T>(values: readonly T[]): T | undefined
  chance(p: number): boolean
}

export function createRandom(start: number): Random {
  let state = start
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (n) => Math.floor(next() * n),
    of: (values) => values[Math.floor(next() * values.length)],
    chance: (p) => next() < p,
  }
}
