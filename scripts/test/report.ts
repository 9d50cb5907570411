/** What a run of the tests prints. */
import type { Entry } from './entries.ts'
import { suiteOf } from './entries.ts'
import type { FileResult, Listener, TestResult } from './results.ts'
import { failuresOf, hasFailed, nameOf } from './results.ts'

const progressSeconds = 10
/** Number of tests and of files in each list at the end. */
const listed = 10

const began = performance.now()
const elapsed = (): string => {
  const seconds = Math.round((performance.now() - began) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Prints each failure when it happens, and how far the run is. */
export function startProgress(entries: readonly Entry[]): Listener & Disposable {
  const all = entries.reduce((sum, { files }) => sum + files.length, 0)
  const counts = { files: 0, tests: 0, failed: 0 }
  const timer = setInterval(() => {
    const { files, tests, failed } = counts
    console.log(`${elapsed()}  ${files} of ${all} files, ${tests} tests, ${failed} failed`)
  }, progressSeconds * 1000)
  return {
    onTest(test) {
      counts.tests++
      if (test.outcome !== 'failed') return
      counts.failed++
      console.log(`✖ ${test.file}: ${nameOf(test)} (${test.ms} ms)`)
      if (test.problem) console.log(test.problem.replace(/^/gm, '    '))
    },
    onEntry(results, output) {
      counts.files += results.length
      const failed = results.filter(hasFailed)
      for (const { file, problem } of failed) if (problem) console.log(`✖ ${file}: ${problem}`)
      if (failed.length > 0 && output) console.log(output.replace(/^/gm, '    | '))
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

export function printSummary(results: readonly FileResult[]): void {
  printCounts(results)
  const tests = results.flatMap((each) => each.tests)
  const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, listed)
  console.log('\nThe slowest tests:')
  for (const test of slowest)
    console.log(`  ${(test.ms / 1000).toFixed(1).padStart(6)} s  ${test.file}: ${test.path.at(-1)}`)
}

function printCounts(results: readonly FileResult[]): void {
  const hosts = [...Map.groupBy(results, ({ file }) => suiteOf(file))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const line = (name: string, some: readonly FileResult[]) => {
    const seconds = some.reduce((sum, each) => sum + each.seconds, 0).toFixed(0)
    const { passed, failed, skipped } = countsOf(some)
    const columns = [some.length, passed, failed, skipped, seconds]
    return name.padEnd(36) + columns.map((each) => String(each).padStart(9)).join('')
  }
  console.log(
    `${'suite'.padEnd(36)}${['files', 'passed', 'failed', 'skipped', 'seconds'].map((each) => each.padStart(9)).join('')}`,
  )
  for (const [name, some] of [...hosts, ['all', results] as const]) console.log(line(name, some))
}

/** A file that failed as a whole counts as one failure. */
function countsOf(results: readonly FileResult[]): Record<TestResult['outcome'], number> {
  const tests = results.flatMap((each) => each.tests)
  const count = (outcome: TestResult['outcome']) =>
    tests.filter((each) => each.outcome === outcome).length
  const broken = results.filter(({ problem }) => problem !== undefined).length
  return { passed: count('passed'), failed: count('failed') + broken, skipped: count('skipped') }
}

/** The last lines: each failure again, and the counts. `faults`: failures that no file has. */
export function printEnd(results: readonly FileResult[], faults: readonly string[]): void {
  const failed = results.filter(hasFailed)
  if (failed.length > 0 || faults.length > 0) console.log('\nFailed:')
  for (const fault of faults) console.log(`  ${fault}`)
  for (const result of failed) {
    if (result.problem) console.log(`  ${result.file}: ${result.problem}`)
    for (const each of failuresOf(result)) console.log(`  ${result.file}: ${nameOf(each)}`)
  }
  const { passed, failed: count, skipped } = countsOf(results)
  console.log(`\n${elapsed()} in all`)
  console.log(`${passed} passed, ${count + faults.length} failed, ${skipped} skipped`)
}

/** Of each test that failed in some of its runs, in how many. */
export function printRates(results: readonly FileResult[]): void {
  const byTest = Map.groupBy(
    results.flatMap((each) => each.tests),
    (test) => `${test.file}: ${nameOf(test)}`,
  )
  const rates = [...byTest].flatMap(([name, runs]) => {
    const failed = runs.filter(({ outcome }) => outcome === 'failed').length
    return failed > 0 ? [`  ${failed} of ${runs.length}  ${name}`] : []
  })
  console.log(
    rates.length > 0
      ? '\nTests that failed, in so many of their runs:'
      : '\nNo test failed in any run.',
  )
  for (const rate of rates) console.log(rate)
}
