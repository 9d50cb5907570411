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

const isListed = (list: readonly FlakyTest[], result: FileResult, failed: TestResult): boolean =>
  list.some(({ file, test }) => file === result.file && test === nameOf(failed))

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
    const failures = failuresOf(result)
    const isRetried = failures.length > 0 && failures.every((each) => isListed(list, result, each))
    if (result.problem !== undefined || !isRetried) {
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

/**
 * Runs each listed test often. Returns the entries that never failed, and failures of tests in the same files that are not
 * listed.
 */
export async function steadyTests(
  list: readonly FlakyTest[],
  run: (entries: Entry[]) => Promise<FileResult[]>,
): Promise<string[]> {
  const files = [...new Set(list.map(({ file }) => file))]
  const results = await run(files.flatMap((file) => repeatedEntries(file, cleanRuns)))
  const others = results.flatMap((result) =>
    failuresOf(result)
      .filter((failed) => !isListed(list, result, failed))
      .map(
        (failed) =>
          `${result.file}: ${nameOf(failed)}: failed beside a listed test, and is not listed`,
      ),
  )
  const steady = list
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
  return [...steady, ...new Set(others)]
}
