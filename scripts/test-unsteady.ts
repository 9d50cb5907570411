/** Decides which failures count. Beside other files on a busy machine, a failed time limit may only show the load. */
import type { FileResult } from './test-process.ts'

/** When at most `files` files failed beside others, each of them runs `runs` more times by itself. */
export const again = { files: 3, runs: 2 }

export const hasFailed = ({ problem, tests }: FileResult): boolean =>
  problem !== undefined || tests.some(({ outcome }) => outcome === 'failed')

/**
 * Returns the results that count and the results that do not. A failure does not count when the file passed each time
 * by itself. `runAlone` returns nothing once the run is told to end.
 */
export async function settle(
  results: readonly FileResult[],
  runAlone: (file: string) => Promise<FileResult[]>,
): Promise<{ results: FileResult[]; unsteady: FileResult[] }> {
  const unsteady: FileResult[] = []
  const passed: FileResult[] = []
  const failed = Map.groupBy(results.filter(hasFailed), ({ file }) => file)
  if (failed.size > again.files) return { results: [...results], unsteady }
  for (const [file, before] of failed) {
    console.log(`\n${file} failed: it runs up to ${again.runs} more times, by itself`)
    const runs: FileResult[] = []
    while (runs.length < again.runs) {
      const ran = await runAlone(file)
      if (ran.length === 0 || ran.some(hasFailed)) break
      runs.push(...ran)
    }
    if (runs.length < again.runs) continue
    passed.push(...runs.slice(-1))
    unsteady.push(...before)
  }
  const isSteady = ({ file }: FileResult) => !passed.some((each) => each.file === file)
  return { results: [...results.filter(isSteady), ...passed], unsteady }
}
