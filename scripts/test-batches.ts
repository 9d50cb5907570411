/**
 * Groups test files that share a process: loading a server for each file takes as long as the tests of a short file.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Batch = {
  files: string[]
  /** Seconds of the batch's files together, from scripts/test-seconds.json. */
  seconds: number
}

/** Largest batch, in average files. A longer file runs by itself. */
const mostAverages = 20

const hasSuite = (source: string): boolean => /^\s*(?:void )?describe\(/m.test(source)
const hasTestOutside = (source: string): boolean => /^verifies\(/m.test(source)

/**
 * True for a file whose tests could not be told apart in a batch: a test stands outside of every suite, or its suite
 * stands in another file.
 */
function standsAlone(path: string): boolean {
  const source = readFileSync(path, 'utf8')
  const imported = [...source.matchAll(/^(?:import|\}) .*'(\.[^']+\.ts)'$/gm)]
  return (
    !hasSuite(source) ||
    hasTestOutside(source) ||
    imported.some(([, name = '']) => hasSuite(readFileSync(join(dirname(path), name), 'utf8')))
  )
}

/** Packages that load little except their own few files. */
const small = /^packages\/(?!server|sandbox|worker).*/

type Costs = { secondsOf: (file: string) => number; average: number; processes: number }

/** Groups the files into batches, the longest first. The files of a batch load mostly the same modules. */
export function batchesOf(
  root: string,
  files: readonly string[],
  { secondsOf, average, processes }: Costs,
): Batch[] {
  const sum = files.reduce((all, file) => all + secondsOf(file), 0)
  const most = Math.min(mostAverages * average, sum / processes)
  const batches: Batch[] = []
  /** The batch that still grows, for each place. */
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

/** The place of a file: a package, a wing of the server, or a folder of the conformance tests. */
export const placeOf = (file: string): string =>
  /^packages\/server\/src\/\w+|^packages\/[\w-]+|^conformance\/\w+(?=\/)|^conformance/.exec(
    file,
  )?.[0] ?? file
