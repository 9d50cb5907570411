/** Rows that hold still: while `isHeld`, sessions that came since are counted and not shown. */
export function heldRows<Row extends { id: string }>(
  rows: readonly Row[],
  held: readonly string[] | undefined,
): { rows: readonly Row[]; newer: number } {
  if (!held) return { rows, newer: 0 }
  const known = new Set(held)
  const kept = rows.filter(({ id }) => known.has(id))
  const first = rows.findIndex(({ id }) => known.has(id))
  return { rows: kept, newer: first < 0 ? rows.length : first }
}
