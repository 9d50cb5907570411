/** `npm test`: see `--help`. Node's own runner runs the files; scripts/test/ chooses them and gives them what they share. */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { filesOfCheckout, readGraph } from './house/graph.ts'
import { root } from './house/sources.ts'
import type { Entry } from './test/entries.ts'
import { entriesOf, isAlone, isSlow, repeatedEntries } from './test/entries.ts'
import { missingTests, readFlaky, retryListed, steadyTests } from './test/flaky.ts'
import { printEnd, printRates, printSummary, startProgress } from './test/report.ts'
import type { FileResult } from './test/results.ts'
import { hasFailed } from './test/results.ts'
import { runEntries } from './test/run.ts'
import { changedSince, testsOf } from './test/select.ts'
import { setUp, tearDown } from './test/setup.ts'

/** Time limit of a test, of a suite and of a hook. */
const limitSeconds = { usual: 600, long: 1_800 }
/** All processes share one Postgres, which takes 300 connections. */
const mostProcesses = 24
/** How often `--long` runs each slow file. */
const rounds = 5

const help = `npm test [-- [options] [word...]]

  npm test             the quick files, and every file that imports, directly or not, a file that you changed since the
                       main branch
  npm test -- word     the files whose path holds one of the words, each as npm run test:long runs it
  npm run test:fast    the quick files: a minute or two on two cores
  npm run test:all     every file once, as ./test and CI do: a scenario and a file of the engine on SQLite or on Postgres,
                       by its name; a crash on one of the two; a case of the sandbox contract on Docker or on Podman;
                       550 random schedules of claimed work
  npm run test:long    for a night: every scenario and crash on both databases, every case on both engines, all versions
                       of the official client, 10,000 random schedules, servers and workers from their sources; each slow
                       file ${rounds} times, with the rate of failures of each test
  node --test <file>   one file, as npm run test:all runs it

  --since <commit>     what npm test compares with, in place of the main branch
  --list               prints the files instead of running them
  --shard <n>/<of>     this part of the files, for several machines
  --processes <n>      how many processes run at a time; four for each processor, ${mostProcesses} at most, unless given
  --help               this text

*.slow.test.ts starts programs or containers, or takes over three seconds. *.alone.test.ts compares times, and runs last.
A failure is printed when it happens. The tests of conformance/flaky.json are tried once more, and each is named; any
other failure fails the run.
`

function refuse(why: string): never {
  console.error(`${why}\n\n${help}`)
  process.exit(2)
}

function readArguments() {
  const flag = { type: 'boolean', default: false } as const
  const options = {
    ...{ all: flag, fast: flag, long: flag, list: flag, help: flag },
    since: { type: 'string' },
    shard: { type: 'string', default: '1/1' },
    processes: {
      type: 'string',
      default: String(Math.min(4 * availableParallelism(), mostProcesses)),
    },
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
const [shard = 0, shards = 0] = values.shard.split('/').map(Number)
if (!(shard >= 1 && shard <= shards))
  refuse('--shard: give a part and a number of parts, such as 1/2')

const allFiles = globSync(['packages/*/src/**/*.test.ts', 'conformance/**/*.test.ts'], {
  cwd: root,
}).toSorted()
const isLong = values.long || words.length > 0
/** Each file that this run leaves out is left to a run of all files. */
const isWhole = values.all || (values.long && words.length === 0)

function chosenFiles(): string[] {
  if (words.length > 0) {
    const files = allFiles.filter((file) => words.some((word) => file.includes(word)))
    return files.length > 0 ? files : refuse(`no test file matches ${words.join(', ')}`)
  }
  if (isWhole) return allFiles
  const quick = allFiles.filter((file) => !isSlow(file))
  if (values.fast) return quick
  const { base, changed } = changedSince(values.since)
  const files = new Set([...quick, ...testsOf(changed, allFiles, readGraph(filesOfCheckout()))])
  console.error(
    `${changed.length} files differ from ${base.slice(0, 12)}. They and the quick tests make ${files.size} of ${allFiles.length} test files; ` +
      'the others are left to ./test and CI.',
  )
  return allFiles.filter((file) => files.has(file))
}

const ending = new AbortController()

async function runAll(entries: Entry[], { isTimed = false } = {}): Promise<FileResult[]> {
  using progress = startProgress(entries)
  return await runEntries(
    entries,
    {
      ...{ isTimed, processes, signal: ending.signal },
      limitSeconds: isLong ? limitSeconds.long : limitSeconds.usual,
    },
    progress,
  )
}

async function runOnce(file: string): Promise<FileResult> {
  const [result] = await runAll(entriesOf([file]), { isTimed: isAlone(file) })
  if (result === undefined) throw new Error(`${file} has no result`)
  return result
}

async function main(): Promise<void> {
  const chosen = chosenFiles().filter((_, at) => at % shards === shard - 1)
  process.env['STEWARD_TEST_LONG'] = isLong ? '1' : ''
  // The test of this runner starts it in a process of Node's runner, which would take this one for a part of its own.
  delete process.env['NODE_TEST_CONTEXT']
  await setUp()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const list = readFlaky()
  const [last, others] = [chosen.filter(isAlone), chosen.filter((file) => !isAlone(file))]
  const results = await retryListed(await runAll(entriesOf(others)), list, {
    runOnce,
    print: console.log,
  })
  for (const file of last) results.push(await runOnce(file))
  const faults = isWhole && shards === 1 ? missingTests(list, results) : []
  if (values.long) {
    const repeated = others.filter(isSlow).flatMap((file) => repeatedEntries(file, rounds - 1))
    const more = await retryListed(await runAll(repeated), list, { runOnce, print: console.log })
    printRates([...results, ...more])
    results.push(...more)
    faults.push(...(await steadyTests(list, runAll)))
  }
  await tearDown()
  printSummary(results)
  printEnd(results, faults)
  process.exitCode = results.some(hasFailed) || faults.length > 0 || ending.signal.aborted ? 1 : 0
}

if (values.help) console.log(help)
else if (values.list) console.log(chosenFiles().join('\n'))
else await main()
