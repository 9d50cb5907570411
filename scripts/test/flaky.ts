/**
 * conformance/flaky.json names the tests that are known to fail now and then. Only these are tried once more. Each entry
 * is a fault that waits to be mended.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { repeatedEntries } from './entries.ts'
import type { Entry } from './entries.ts'
import type { FileResult, TestResult } from './results.ts'
import { failuresOf, hasFailed, nameOf } from './results.ts'

/** `test`: the names of the suites and of the test, joined by ` > `. `since`: a date. */
const flakyTests = z.array(
  z.strictObject({
    file: z.string(),
    test: z.string(),
    reason: z.string().min(20),
    since: z.iso.date(),
  }),
)
export type FlakyTest = z.infer<typeof flakyTests>[number]

/** An entry without a failure in so many runs goes. */
export const cleanRuns = 30

export const readFlaky = (): FlakyTest[] =>
  flakyTests.parse(
    JSON.parse(readFileSync(new URL('../../conformance/flaky.json', import.meta.url), 'utf8')),
  )

/**
 * Runs a file once more when all its failures are listed. The second result then counts, whatever it is. A file that
 * failed as a whole, or with a test that is not listed, has failed.
 */
export async function retryListed(
  results: readonly FileResult[],
  list: readonly FlakyTest[],
  {
    runOnce,
    print,
  }: { runOnce: (file: string) => Promise<FileResult>; print: (line: string) => void },
): Promise<FileResult[]> {
  const settled: FileResult[] = []
  for (const result of results) {
    const isListed = (failed: TestResult) =>
      list.some(({ file, test }) => file === result.file && test === nameOf(failed))
    const failures = failuresOf(result)
    if (result.problem !== undefined || failures.length === 0 || !failures.every(isListed)) {
      settled.push(result)
      continue
    }
    for (const each of failures)
      print(`Listed as flaky, tried once more: ${result.file}: ${nameOf(each)}`)
    const again = await runOnce(result.file)
    print(`  ${hasFailed(again) ? 'failed again' : 'passed'}`)
    settled.push(again)
  }
  return settled
}

/** Entries of tests that no file has any more. Only a run of all files can tell. */
export const missingTests = (
  list: readonly FlakyTest[],
  results: readonly FileResult[],
): string[] =>
  list
    .filter(
      ({ file, test }) =>
        !results.some(
          (each) => each.file === file && each.tests.some((one) => nameOf(one) === test),
        ),
    )
    .map(({ file, test }) => `${file}: ${test}: listed as flaky, and there is no such test`)

/** Runs each listed test often, and returns the entries that never failed. */
export async function steadyTests(
  list: readonly FlakyTest[],
  run: (entries: Entry[]) => Promise<FileResult[]>,
): Promise<string[]> {
  const files = [...new Set(list.map(({ file }) => file))]
  const results = await run(files.flatMap((file) => repeatedEntries(file, cleanRuns)))
  return list
    .filter(({ file, test }) => {
      const some = results.filter((each) => each.file === file)
      return !some.some(
        (each) =>
          each.problem !== undefined || failuresOf(each).some((one) => nameOf(one) === test),
      )
    })
    .map(
      ({ file, test }) => `${file}: ${test}: no failure in ${cleanRuns} runs; take it off the list`,
    )
}
