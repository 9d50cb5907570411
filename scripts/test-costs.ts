/** What each test file costs, by scripts/test-costs.json, and how quick a machine is beside the one that recorded it. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `seconds`: how long the file takes beside others. `computed`: processor seconds of its process and what it starts. */
export type Cost = { seconds: number; computed: number }

/** `paceMs`: what `measurePace` gave where the costs were recorded. */
type Table = { paceMs: number; files: Record<string, [seconds: number, computed: number]> }

const path = join(import.meta.dirname, 'test-costs.json')

export type Costs = {
  /** A file that is not recorded yet costs as much as an average one. */
  of: (file: string) => Cost
  average: Cost
  paceMs: number
}

export function readCosts(): Costs {
  const { paceMs, files } = readTable()
  const known = new Map(
    Object.entries(files).map(([file, [seconds, computed]]) => [file, { seconds, computed }]),
  )
  const mean = (part: keyof Cost): number =>
    [...known.values()].reduce((sum, each) => sum + each[part], 0) / Math.max(1, known.size)
  const average = { seconds: mean('seconds'), computed: mean('computed') }
  return { paceMs, average, of: (file) => known.get(file) ?? average }
}

/** Writes the costs of these files, and forgets files that are gone. */
export function recordCosts(root: string, results: readonly (Cost & { file: string })[]): void {
  const { files } = readTable()
  const known = new Set(globSync(Object.keys(files), { cwd: root }))
  const tenths = (value: number): number => Math.round(value * 10) / 10
  const next = Object.entries({
    ...Object.fromEntries(Object.entries(files).filter(([file]) => known.has(file))),
    ...Object.fromEntries(
      results.map(({ file, seconds, computed }) => [file, [tenths(seconds), tenths(computed)]]),
    ),
  }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const lines = next.map(([file, cost]) => `    ${JSON.stringify(file)}: [${cost.join(', ')}]`)
  const paceMs = tenths(measurePace())
  writeFileSync(path, `{\n  "paceMs": ${paceMs},\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`)
}

const readTable = (): Table => JSON.parse(readFileSync(path, 'utf8')) as Table

const tries = 40
const documents = 150

/**
 * Milliseconds that this machine takes for a fixed piece of the work of tests: texts, JSON, expressions and maps. The
 * quickest of many, because other programs may keep the processor from any of them.
 */
export function measurePace(): number {
  const times = Array.from({ length: tries }, () => {
    const began = performance.now()
    for (let at = 0; at < documents; at++) work(at)
    return performance.now() - began
  })
  return Math.min(...times)
}

function work(at: number): void {
  const rows = Array.from({ length: 60 }, (_, row) => ({
    id: `row_${at}_${row}`,
    type: row % 3 === 0 ? 'user.message' : 'agent.message',
    content: [{ type: 'text', text: `word ${row} `.repeat(8) }],
  }))
  const read = JSON.parse(JSON.stringify(rows)) as typeof rows
  const byType = Map.groupBy(read, ({ type }) => type)
  for (const some of byType.values())
    some
      .map(({ id, content }) => `${id} ${content[0]?.text.replaceAll(/w(o)rd (\d+)/g, '$2$1')}`)
      .toSorted()
}
