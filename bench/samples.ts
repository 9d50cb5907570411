/** Figures over several rounds: medians with their spread, kept as a file, and two sets side by side. */
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Figure } from './figures.ts'
import { columns, median, shown } from './figures.ts'

const Sample = z.object({
  database: z.string(),
  what: z.string(),
  unit: z.string(),
  /** One value for each round. */
  values: z.array(z.number()),
})
type Sample = z.infer<typeof Sample>
const Results = z.object({ node: z.string(), at: z.string(), samples: z.array(Sample) })

export type Samples = Map<string, Sample>

export function addSample(samples: Samples, database: string, figure: Omit<Figure, 'goal'>): void {
  const { what, unit, value } = figure
  const key = `${database} ${what}`
  const sample = samples.get(key) ?? { database, what, unit, values: [] }
  sample.values.push(value)
  samples.set(key, sample)
}

export function writeResults(file: string, samples: Samples): void {
  const results = { node: process.version, at: new Date().toISOString() }
  writeFileSync(
    file,
    `${JSON.stringify({ ...results, samples: [...samples.values()] }, null, 2)}\n`,
  )
}

/** Throws when the file cannot be read, or was not written by `writeResults`. The message says which. */
export function readResults(file: string): Samples {
  const { samples } = resultsOf(file)
  return new Map(samples.map((sample) => [`${sample.database} ${sample.what}`, sample]))
}

function resultsOf(file: string): z.infer<typeof Results> {
  try {
    return Results.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new Error(
      isMissing ? `there is no file ${file}` : `${file} holds no figures that --out has written`,
      { cause: error },
    )
  }
}

/** For example `12.3 ms (11.9–13.0)`; one round has no spread. */
function withSpread({ values, unit }: Sample): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [least = Number.NaN, most = Number.NaN] = [sorted[0], sorted.at(-1)]
  const spread = sorted.length > 1 ? ` (${shown(least)}–${shown(most)})` : ''
  return `${shown(median(sorted))} ${unit}${spread}`
}

/** True when the two spreads do not overlap, so that noise does not explain the difference. */
const areApart = (one: Sample, other: Sample): boolean =>
  Math.max(...one.values) < Math.min(...other.values) ||
  Math.max(...other.values) < Math.min(...one.values)

export function compareSamples(old: Samples, now: Samples): string {
  const rows = [...now].map(([key, sample]) => {
    const before = old.get(key)
    if (!before) return [sample.database, sample.what, '', withSpread(sample), '', '']
    const ratio = median(sample.values) / median(before.values)
    const isSure = sample.values.length > 1 && before.values.length > 1 && areApart(before, sample)
    const mark = isSure ? 'apart' : ''
    return [
      ...[sample.database, sample.what, withSpread(before), withSpread(sample)],
      ...[`${ratio.toFixed(2)} ×`, mark],
    ]
  })
  return columns([['database', 'figure', 'old', 'new', 'new/old', 'spreads'], ...rows])
}

export function samplesTable(samples: Samples): string {
  const rows = [...samples.values()].map((sample) => [
    sample.database,
    sample.what,
    withSpread(sample),
  ])
  return columns([['database', 'figure', 'median (spread)'], ...rows])
}
