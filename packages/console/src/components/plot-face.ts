export type PlotProps = {
  /** Says in words what the plot shows. */
  label: string
  /** Seconds since 1970. */
  times: readonly number[]
  /** A gap is null. */
  values: readonly (number | null)[]
  kind: 'line' | 'bars'
  unit?: (value: number) => string
  /** A line that may not be passed. */
  limit?: number
}

export const plotHeight = 140
