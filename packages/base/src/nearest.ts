/** The number of characters to insert, delete or replace (Levenshtein distance). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of from.split('').entries()) {
    const next = [at + 1]
    for (const [index, other] of to.split('').entries())
      next.push(
        Math.min(
          (row[index] ?? 0) + (letter === other ? 0 : 1),
          (row[index + 1] ?? 0) + 1,
          (next[index] ?? 0) + 1,
        ),
      )
    row = next
  }
  return row.at(-1) ?? 0
}

/** The name that a person may have meant: one that at most a third of the letters tells apart. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const [best] = [...known]
    .map((other) => ({ other, apart: distance(name, other) }))
    .toSorted((one, two) => one.apart - two.apart)
  return best && best.apart <= name.length / 3 ? best.other : undefined
}
