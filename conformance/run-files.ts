/** A program that runs test files with the runner of `npm test`, and prints their results as JSON. */
import type { Listener } from '../scripts/test/results.ts'
import { entriesOf } from '../scripts/test/entries.ts'
import { runEntries } from '../scripts/test/run.ts'

const [limitSeconds, silenceSeconds, ...files] = process.argv.slice(2)
const outputs: string[] = []
const listener: Listener = {
  onTest() {},
  onEntry: (_results, output) => void outputs.push(output),
}
const results = await runEntries(
  entriesOf(files),
  {
    ...{ processes: 1, signal: new AbortController().signal },
    ...{ limitSeconds: Number(limitSeconds), silenceSeconds: Number(silenceSeconds) },
  },
  listener,
)
process.stdout.write(JSON.stringify({ results, outputs }))
