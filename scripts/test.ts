/**
 * `npm test`: see `--help`. Long test files run in a process each, short ones in batches, the longest first and several
 * at a time, because most tests wait for most of their time. One Postgres serves all files; each test makes its own
 * databases there.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { writeClientSchemas } from '../conformance/client-answers.ts'
import type { Batch } from './test-batches.ts'
import { batchesOf, placeOf } from './test-batches.ts'
import { measurePace, readCosts, recordCosts } from './test-costs.ts'
import type { Draw } from './test-draw.ts'
import { drawAnother, drawFiles, lightSeconds, readHistory, roomOn } from './test-draw.ts'
import { startPace } from './test-pace.ts'
import type { TestDatabases } from './test-databases.ts'
import { startDatabases } from './test-databases.ts'
import { bundlePrograms } from './test-programs.ts'
import type { FileResult } from './test-process.ts'
import { isTimed, killAll, runBatch } from './test-process.ts'
import type { TestResult } from './test-files.ts'
import { again, hasFailed, settle } from './test-unsteady.ts'

/**
 * Seconds of all files of `--fast` together, by the table. These files mostly compute, and start again the parts that
 * the whole run shares.
 */
const fastSeconds = 55
/** Time limit of a file. A slow machine gets six times the seconds of the table. */
const deadlineSeconds = { usual: 300, long: 1_800 }
/** Time limit of a test, and of a hook. */
const limitSeconds = { usual: 240, long: 1_500 }
const progressSeconds = 10
/** Number of tests and of files in each list at the end. */
const listed = 10

const help = `npm test [-- [options] [word...]]

Runs the test files whose path holds one of the words; without a word, as many as this machine runs within six minutes.

  npm test             each file once: a conformance scenario and a file of the engine on SQLite or on Postgres, by its name;
                       a crash on one of the two; a case of the sandbox contract on Docker or on Podman;
                       550 random schedules of claimed work; servers and workers that tests start are bundled into one file.
                       A machine that cannot run all in six minutes runs every file that computes for ${lightSeconds} seconds at
                       most, the walls between tenants, what the last commit or you changed, and as many as the commit draws
  npm test -- word     files by name, each as npm run test:long runs it
  npm run test:fast    the quickest files, as many as fit into a minute
  npm run test:long    all scenarios and crashes on both databases, all cases on both engines, all versions of the official
                       client, 10,000 random schedules, times of turns beside an attack, servers and workers from their
                       sources

  --all                npm test without its limit of six minutes
  --draw <word>        draws the files by this word instead of the commit, to repeat the order of a run
  --fast, --long       what the two commands above pass on
  --processes <n>      how many processes run at a time at most; 10 unless given. More than 4 run only while processors are idle
  --record             writes what each file costs to scripts/test-costs.json, by which files are ordered and drawn. Give
                       --all too, on a machine that does nothing else
  --help               this text

A failure is printed when it happens, with its file. A test that takes longer than ${limitSeconds.usual / 60} minutes has failed (${limitSeconds.long / 60} in a run of
chosen files or of all). A file that does not end is killed, says what it waits for, and has failed. Short files
share a process; where one of them ends it, it is named, and the others run again by themselves. Of npm test, up to ${again.files}
files that failed run ${again.runs} more times by themselves: one that passes each time is named as unsteady, and the run has not
failed for it. The run ends with counts by suite, the slowest tests and the files that compute most. Its seconds are how
long the files took, its cpu how long they kept a processor busy: where the former are many more, tests wait.
`

function refuse(why: string): never {
  console.error(`${why}\n\n${help}`)
  process.exit(2)
}

function readArguments() {
  const options = {
    all: { type: 'boolean', default: false },
    draw: { type: 'string' },
    fast: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    processes: { type: 'string', default: '10' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return refuse((error as Error).message)
  }
}

const { values, positionals: words } = readArguments()
const processes = Number(values.processes)
if (!(processes >= 1)) refuse('--processes: give a number of at least 1')

const root = join(import.meta.dirname, '..')
const costs = readCosts()
const secondsOf = (file: string): number => costs.of(file).seconds

const allFiles = globSync(['packages/*/src/**/*.test.ts', 'conformance/**/*.test.ts'], {
  cwd: root,
})

function chosenFiles(): string[] {
  const files = allFiles.filter(
    (file) => words.length === 0 || words.some((word) => file.includes(word)),
  )
  if (files.length === 0) refuse(`no test file matches ${words.join(', ')}`)
  const longestFirst = files.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  return values.fast ? quickest(longestFirst) : longestFirst
}

/** The quickest files, up to the time of `--fast`. */
function quickest(longestFirst: readonly string[]): string[] {
  let left = fastSeconds
  const first = longestFirst.findLastIndex((file) => (left -= secondsOf(file)) < 0)
  return longestFirst.slice(first + 1)
}

const began = performance.now()
const elapsed = (): string => {
  const seconds = Math.round((performance.now() - began) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function printFailure(file: string, { path, ms, problem }: TestResult): void {
  console.log(`✖ ${file}: ${path.join(' > ')} (${ms} ms)`)
  if (problem) console.log(problem.replace(/^/gm, '    '))
}

/** True when the run was told to end before all files have run. */
let isEnding = false

/** Runs the batches, `processes` at a time; a process that is free takes the next, and at last `another`. */
async function runBatches(
  batches: readonly Batch[],
  env: Record<string, string>,
  databases: Pick<TestDatabases, 'dropDatabases'>,
  another?: (underWay: Iterable<Batch>) => Batch | undefined,
) {
  const results: FileResult[] = []
  const counts = { tests: 0, failed: 0 }
  const underWay = new Map<Batch, number>()
  const queue = [...batches]
  let count = batches.reduce((sum, { files }) => sum + files.length, 0)
  const progress = setInterval(() => {
    const slow = [...underWay].map(
      ([batch, at]) => `${nameOf(batch)} ${seconds(performance.now() - at)}`,
    )
    console.log(
      `${elapsed()}  ${results.length} of ${count} files, ${counts.tests} tests, ` +
        `${counts.failed} failed; running: ${slow.join(', ')}`,
    )
  }, progressSeconds * 1000)
  async function run(batch: Batch): Promise<void> {
    const paths = batch.files.map((file) => join(root, file))
    const ran = await runBatch(paths, {
      env,
      limitSeconds: isWhole ? limitSeconds.long : limitSeconds.usual,
      deadlineSeconds: isWhole
        ? deadlineSeconds.long
        : Math.max(deadlineSeconds.usual, 6 * batch.seconds),
      onTest(test) {
        counts.tests++
        if (test.outcome !== 'failed') return
        counts.failed++
        printFailure(batch.files.length === 1 ? nameOf(batch) : relative(root, test.file), test)
      },
    })
    if (isEnding) return
    await databases.dropDatabases(`test_${ran.pid}_`)
    for (const each of ran.results) {
      const result = { ...each, file: relative(root, each.file) }
      results.push(result)
      if (result.problem) console.log(`✖ ${result.file}: ${result.problem}`)
      if (hasFailed(result) && result.output) console.log(result.output.replace(/^/gm, '    | '))
    }
    queue.unshift(...ran.rest.map((path) => aloneBatch(relative(root, path))))
  }
  function takeAnother(): Batch | undefined {
    const batch = another?.(underWay.keys())
    if (batch) count++
    return batch
  }
  using pace = startPace()
  async function work(): Promise<void> {
    while (!isEnding) {
      if (queue.length > 0) await pace.next(() => underWay.size)
      const batch = queue.shift() ?? takeAnother()
      if (batch === undefined) return
      underWay.set(batch, performance.now())
      await run(batch)
      underWay.delete(batch)
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
  clearInterval(progress)
  return results
}

const aloneBatch = (file: string): Batch => ({ files: [file], seconds: secondsOf(file) })

const nameOf = ({ files: [first = '', ...others] }: Batch): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function printCounts(results: readonly FileResult[]): void {
  const suites = Map.groupBy(results, ({ file }) => placeOf(file))
  const lines = [...suites].toSorted(byName).map(([suite, files]) => {
    const tests = files.flatMap((each) => each.tests)
    const count = (outcome: TestResult['outcome']) =>
      tests.filter((each) => each.outcome === outcome).length
    const took = files.reduce((sum, each) => sum + each.seconds, 0)
    const failed = count('failed') + files.filter(({ problem }) => problem !== undefined).length
    const computed = files.reduce((sum, each) => sum + each.computed, 0)
    return [
      ...[suite, files.length, allFiles.filter((file) => placeOf(file) === suite).length],
      ...[count('passed'), failed, count('skipped')],
      ...[took.toFixed(0), computed.toFixed(0)],
    ].map(String)
  })
  const sums = [1, 2, 3, 4, 5, 6, 7].map((column) =>
    String(lines.reduce((sum, line) => sum + Number(line[column]), 0)),
  )
  const head = ['suite', 'files', 'of', 'passed', 'failed', 'skipped', 'seconds', 'cpu']
  for (const [name = '', ...rest] of [head, ...lines, ['all', ...sums]])
    console.log(name.padEnd(36) + rest.map((each) => each.padStart(8)).join(''))
}

/** Says which parts of the files did not run, so that nobody takes a part for the whole. */
function printShare(results: readonly FileResult[], draw: Draw | undefined): void {
  const left = allFiles.length - results.length - (isWhole ? 0 : allFiles.filter(isTimed).length)
  if (draw && draw.left.length > 0) printDraw(draw)
  else if (left > 0) console.log(`\n${left} of ${allFiles.length} files were not chosen.`)
  if (isWhole) return
  console.log(
    '\nEach scenario, each file of the engine and each crash ran on one of the two databases, each case of the sandbox\n' +
      'contract on one of the two engines of containers, the official worker in its newest version, and 550 of 10,000 random\n' +
      'schedules; times of turns beside an attack were not compared: npm run test:long does all.',
  )
}

function printDraw({ drawn, left, seed }: Draw): void {
  console.log(
    `\nOn this machine ${drawn.length} of ${drawn.length + left.length} files that compute long fit into six minutes. ` +
      `They were drawn by "${seed}" (--draw):`,
  )
  for (const file of drawn.toSorted()) console.log(`  ${file}`)
  console.log('Left to other commits, and to npm test -- --all:')
  for (const file of left.toSorted()) console.log(`  ${file}`)
}

function printSlowest(results: readonly FileResult[]): void {
  const tests = results.flatMap(({ file, tests: some }) => some.map((each) => ({ ...each, file })))
  console.log('\nThe slowest tests:')
  for (const { file, path, ms } of tests.toSorted((a, b) => b.ms - a.ms).slice(0, listed))
    console.log(`  ${seconds(ms).padStart(7)}  ${file}: ${path.at(-1)}`)
}

/** Lists the files by processor time. A file of a batch has a share of the batch's time. */
function printHeaviest(results: readonly FileResult[]): void {
  console.log('\nThe files that kept a processor busy the longest:')
  for (const { file, computed } of results
    .toSorted((a, b) => b.computed - a.computed)
    .slice(0, listed))
    console.log(`  ${computed.toFixed(1).padStart(5)} s  ${file}`)
}

function printFailedFiles(title: string, results: readonly FileResult[]): void {
  const failed = results.filter(hasFailed)
  if (failed.length === 0) return
  console.log(`\n${title}:`)
  for (const { file, problem, tests } of failed) {
    if (problem) console.log(`  ${file}: ${problem}`)
    for (const { path, outcome } of tests)
      if (outcome === 'failed') console.log(`  ${file}: ${path.join(' > ')}`)
  }
}

const isWhole = values.long || words.length > 0

const compiled = join(root, 'node_modules/.cache/steward/compiled')

const programs = isWhole ? '' : join(root, 'node_modules/.cache/steward/programs')

/**
 * Compiles all files of a server once. A server has a thousand files, which cost each process half a second. Node
 * writes the compiled files when a process ends by itself, but not when a test kills the process.
 */
async function compileAll(): Promise<void> {
  const load = `await Promise.all(process.argv.slice(1).map((entry) => import(entry)))`
  const entries = [
    'server/start/start',
    'worker/start',
    'worker/harness/inputs',
    'worker/harness/calls',
  ].map((file) => `@steward/${file}.ts`)
  if (programs !== '') entries.push(...(await bundlePrograms(programs)))
  const child = spawn(process.execPath, ['--input-type=module', '-e', load, ...entries], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error('the files of the server do not load')
}

const elapsedSeconds = (): number => (performance.now() - began) / 1000

const roomNow = (paceMs: number): number =>
  roomOn({ processors: availableParallelism(), paceMs, elapsedSeconds: elapsedSeconds() }, costs)

/** The files that fit into the time of a run on this machine. `paceMs`: see `measurePace`. */
function drawOf(files: readonly string[], paceMs: number): Draw {
  const { commit, changed } = readHistory(root)
  const seed = values.draw ?? commit
  return drawFiles(files, { costs, room: roomNow(paceMs), seed, changed })
}

/** One more file, if there is time for it beside the batches that run. */
function anotherOf(draw: Draw, paceMs: number, underWay: Iterable<Batch>): Batch | undefined {
  const running = [...underWay].flatMap(({ files }) => files)
  const taken = running.reduce((sum, file) => sum + costs.of(file).computed, 0)
  const room = roomNow(paceMs) - taken
  const file = drawAnother(draw, { costs, room, elapsedSeconds: elapsedSeconds() })
  return file === undefined ? undefined : aloneBatch(file)
}

async function main(): Promise<void> {
  const chosen = chosenFiles()
  const paceMs = measurePace()
  // The databases start after the handlers of signals are set, because the start blocks the process.
  const starting = Promise.resolve().then(startDatabases)
  async function end(): Promise<void> {
    isEnding = true
    killAll()
    await (await starting).stop()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
  const isConformance = chosen.some((file) => file.startsWith('conformance/'))
  const [databases] = await Promise.all([
    starting,
    compileAll(),
    isConformance ? writeClientSchemas() : undefined,
  ])
  const env = {
    ...databases.env,
    STEWARD_TEST_LONG: isWhole ? '1' : '',
    NODE_COMPILE_CACHE: compiled,
    STEWARD_TEST_PROGRAMS: programs,
  }
  const runAlone = (file: string) => runBatches([aloneBatch(file)], env, databases)
  const [last, others] = [chosen.filter(isTimed), chosen.filter((file) => !isTimed(file))]
  const draw = isWhole || values.fast || values.all ? undefined : drawOf(others, paceMs)
  const batches = batchesOf(root, draw?.files ?? others, {
    secondsOf,
    average: costs.average.seconds,
    processes,
  })
  const all = await runBatches(
    batches,
    env,
    databases,
    (underWay) => draw && anotherOf(draw, paceMs, underWay),
  )
  if (isWhole) for (const file of last) all.push(...(await runAlone(file)))
  const { results, unsteady } = isWhole
    ? { results: all, unsteady: [] }
    : await settle(all, runAlone)
  if (isEnding) return
  await databases.stop()
  printCounts(results)
  printShare(results, draw)
  printSlowest(results)
  printHeaviest(results)
  printFailedFiles('Unsteady: failed beside others, passed by themselves', unsteady)
  printFailedFiles('Failed', results)
  if (values.record) recordCosts(root, results)
  console.log(`\n${elapsed()} in all`)
  process.exitCode = results.some(hasFailed) ? 1 : 0
}

if (values.help) console.log(help)
else await main()
