/** The figures that a case measures, and their printed form. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export type Figure = {
  what: string
  value: number
  unit: string
  /** The highest good value of a time or size; the lowest good value of a rate. */
  goal?: number
  rate?: boolean
}

export const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)

/** Prints the figure as one line of JSON. */
export function report(database: string, figure: Figure): Figure {
  const { what, value, unit, goal } = figure
  process.stdout.write(
    `${JSON.stringify({ database, what, value: Number(value.toPrecision(4)), unit, goal })}\n`,
  )
  return figure
}

export function table(title: string, figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, unit, goal, rate }) => {
    const met = goal === undefined ? '' : (rate ? value >= goal : value <= goal) ? 'met' : 'short'
    const wanted = goal === undefined ? '' : `${rate ? '≥' : '≤'} ${shown(goal)}`
    return [what, `${shown(value)} ${unit}`, wanted, met]
  })
  return columns([[title, 'measured', 'goal', ''], ...rows])
}

export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
