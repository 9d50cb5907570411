export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export type Figure = {
  what: string
  value: number
  unit: string
  /** At most for times and sizes, at least for rates. */
  goal?: number
  rate?: boolean
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)

/** One line of JSON as soon as it is known. */
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
  const all = [[title, 'measured', 'goal', ''], ...rows]
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  )
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
