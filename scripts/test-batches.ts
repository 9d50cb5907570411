/** Which test files share a process: to load a server for each of them takes as long as the tests of a short file. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Batch = {
  files: string[]
  /** What the table of scripts/test-seconds.json says of them. */
  seconds: number
}

/** Of the average file: a longer one runs by itself, and a batch grows to this. */
const mostAverages = 20

const hasSuite = (source: string): boolean => /^\s*(?:void )?describe\(/m.test(source)
const hasTestOutside = (source: string): boolean => /^verifies\(/m.test(source)

/** In a batch, a test would not say whose it is where it has no suite, or its outermost suite stands in another file. */
function standsAlone(path: string): boolean {
  const source = readFileSync(path, 'utf8')
  const imported = [...source.matchAll(/^(?:import|\}) .*'(\.[^']+\.ts)'$/gm)]
  return (
    !hasSuite(source) ||
    hasTestOutside(source) ||
    imported.some(([, name = '']) => hasSuite(readFileSync(join(dirname(path), name), 'utf8')))
  )
}

/** Packages that load little beside their own few files. */
const small = /^packages\/(?!server|sandbox|worker).*/

type Costs = { secondsOf: (file: string) => number; average: number; processes: number }

/** Each of files that load the same modules for the most part; the longest first. */
export function batchesOf(
  root: string,
  files: readonly string[],
  { secondsOf, average, processes }: Costs,
): Batch[] {
  const sum = files.reduce((all, file) => all + secondsOf(file), 0)
  const most = Math.min(mostAverages * average, sum / processes)
  const batches: Batch[] = []
  /** Of each place, the batch that grows. */
  const open = new Map<string, Batch>()
  for (const file of files.toSorted()) {
    const seconds = secondsOf(file)
    if (seconds > most || standsAlone(join(root, file))) {
      batches.push({ files: [file], seconds })
      continue
    }
    const kind = placeOf(file).replace(small, 'small')
    const growing = open.get(kind)
    if (growing && growing.seconds + seconds <= most) {
      growing.files.push(file)
      growing.seconds += seconds
    } else {
      const batch = { files: [file], seconds }
      batches.push(batch)
      open.set(kind, batch)
    }
  }
  return batches.toSorted((a, b) => b.seconds - a.seconds)
}

/** A package, a wing of the server, or a folder of the conformance tests. */
export const placeOf = (file: string): string =>
  /^packages\/server\/src\/\w+|^packages\/[\w-]+|^conformance\/\w+(?=\/)|^conformance/.exec(
    file,
  )?.[0] ?? file
