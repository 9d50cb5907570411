/**
 * The program that runs one or several test files. It writes each finished test, and the end of all tests, as a line of
 * JSON to the descriptor that scripts/test-process.ts reads.
 */
import { createHook } from 'node:async_hooks'
import { readFileSync, writeSync } from 'node:fs'
import { after, run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { resolveOwnFilesByName } from '../packages/base/src/own-imports.ts'

/** Tells the process to end and to say on stderr what it waits for. */
export const endSignal = 'SIGUSR2'

/** The first descriptor after stdin, stdout and stderr. */
export const reportDescriptor = 3

export type TestResult = {
  /** The file of the outermost suite around the test. */
  file: string
  /** The names of the suites around the test and its own name, outermost first. */
  path: string[]
  ms: number
  /** Processor seconds since the end of the test before. They include hooks, and programs whose end the process saw. */
  computed: number
  outcome: 'passed' | 'failed' | 'skipped'
  /** The error of a failed test; empty for a test that was cancelled with its suite. */
  problem: string
}

/**
 * `begun`: the tests of a file begin, after the tests of the file before. `end`: every test has ended. `computed`: at
 * the exit of the process, its processor seconds, including programs that it started and whose end it saw.
 */
export type Report =
  | { kind: 'begun'; file: string }
  | { kind: 'test'; result: TestResult }
  | { kind: 'end' }
  | { kind: 'computed'; seconds: number }

type Completed = Extract<TestEvent, { type: 'test:complete' }>['data']

/** Longest line of an error, because an assertion about a large body would fill the screen. */
const mostLine = 600
const mostProblem = 8_000

const shortened = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line.length > mostLine ? `${line.slice(0, mostLine)}…` : line))
    .join('\n')
    .slice(0, mostProblem)

type Enqueued = { name: string; parentId: number | undefined; file?: string | undefined }
const enqueued = new Map<number, Enqueued>()

const pathOf = (id: number | undefined): string[] => {
  const test = id === undefined ? undefined : enqueued.get(id)
  return test ? [...pathOf(test.parentId), test.name] : []
}

const outermostOf = (test: Enqueued): Enqueued => {
  const parent = test.parentId === undefined ? undefined : enqueued.get(test.parentId)
  return parent ? outermostOf(parent) : test
}

/** Undefined for a suite, unless the suite itself failed: in a hook, or before its first test. */
function resultOf(completed: Completed): Omit<TestResult, 'computed'> | undefined {
  const { passed, duration_ms, type, error } = completed.details
  const { failureType, cause } = (error ?? {}) as { failureType?: string; cause?: unknown }
  if (type === 'suite' && (passed || failureType === 'subtestsFailed')) return undefined
  const isSkipped = Boolean(completed.skip ?? completed.todo)
  return {
    file: outermostOf(completed).file ?? '',
    // A test that was cancelled with its suite was never enqueued.
    path: [...pathOf(completed.parentId), completed.name],
    ms: Math.round(duration_ms),
    outcome: isSkipped ? 'skipped' : passed ? 'passed' : 'failed',
    problem:
      passed || failureType === 'cancelledByParent' ? '' : shortened(inspect(cause ?? error)),
  }
}

const write = (report: Report): void =>
  void writeSync(reportDescriptor, `${JSON.stringify(report)}\n`)

let computedBefore = 0

function writeTest(result: Omit<TestResult, 'computed'>): void {
  const seconds = computedSeconds()
  write({ kind: 'test', result: { ...result, computed: seconds - computedBefore } })
  computedBefore = seconds
}

/**
 * Imports the file again. Node takes a file that throws after its first test for complete; the second import throws the
 * same error.
 */
async function loadedResult(file: string): Promise<Omit<TestResult, 'computed'> | undefined> {
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    return {
      ...{ file, path: ['is loaded'], ms: 0, outcome: 'failed' },
      problem: shortened(inspect(error)),
    }
  }
}

/** Processor seconds of this process. Linux counts in hundredths of a second; see proc_pid_stat(5). */
function computedSeconds(): number {
  const [, fields = ''] = /\) (.*)/.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields
    .split(' ')
    .slice(11)
    .map(Number)
  return (user + system + childrenUser + childrenSystem) / 100
}

/**
 * Runs the files without the promise hook of Node's runner. The hook watches every promise of the process to find the
 * test of an uncaught error, which takes a sixth of the processor time of all tests. Suites still need the hook for
 * everything except promises.
 */
function runWithoutPromiseHook(files: string[]): ReturnType<typeof run> {
  const hooks = Object.getPrototypeOf(createHook({})) as object
  const enable = Object.getOwnPropertyDescriptor(hooks, 'enable') ?? {}
  function enableWithoutPromises(this: object): unknown {
    const symbols = Object.getOwnPropertySymbols(this)
    const isDeaf = symbols.find(({ description }) => description === 'kNoPromiseHook')
    if (!isDeaf) throw new Error('the hooks of this Node are others: see scripts/test-files.ts')
    return Reflect.apply(enable.value, Object.assign(this, { [isDeaf]: true }), [])
  }
  Object.defineProperty(hooks, 'enable', { ...enable, value: enableWithoutPromises })
  try {
    return run({ files, isolation: 'none', concurrency: 1 })
  } finally {
    Object.defineProperty(hooks, 'enable', enable)
  }
}

/** The tests that run now, by id; each suite comes before its tests. */
const underWay = new Map<number, Enqueued>()

/** Replaces Node's handlers, which need the promise hook to find the tests of some errors. */
function reportUncaught(error: unknown): void {
  process.exitCode = 1
  const [id, test] = [...underWay].at(-1) ?? []
  const file = test ? outermostOf(test).file : undefined
  const problem = shortened(inspect(error))
  const path = [...pathOf(id), 'leaves no error uncaught']
  writeTest({ file: file ?? '', path, ms: 0, outcome: 'failed', problem })
}

type Handle = { type: string; is_active: boolean; pid?: number; repeat?: number }
type Endpoint = { host: string; port: number } | null
type Socket = Handle & { localEndpoint?: Endpoint; remoteEndpoint?: Endpoint }

const textOf = (endpoint: Endpoint | undefined): string =>
  endpoint ? `${endpoint.host}:${endpoint.port}` : ''

/** The command line of a child process. Empty for one that has ended and that nobody has waited for. */
const commandOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()

/** Ends a process whose time is over. Names its tests under way, and the child processes, sockets and timers it has. */
function endWithWaits(): void {
  const { libuv } = process.report.getReport() as { libuv: Socket[] }
  const handles = libuv
    .filter((each) => each.is_active)
    .map(({ type, pid, repeat, localEndpoint, remoteEndpoint }) =>
      [type, pid, pid && commandOf(pid), repeat, textOf(localEndpoint), textOf(remoteEndpoint)]
        .filter(Boolean)
        .join(' '),
    )
  const tests = [...underWay.keys()].map((id) => pathOf(id).join(' > '))
  const list = (title: string, lines: string[]) => [title, ...new Set(lines)].join('\n  ')
  console.error(`${list('under way:', tests)}\n${list('waits for:', handles)}`)
  process.exit(1)
}

function runFiles(files: string[]): void {
  resolveOwnFilesByName()
  process.once(endSignal, endWithWaits)
  process.once('exit', () => write({ kind: 'computed', seconds: computedSeconds() }))
  const events = runWithoutPromiseHook(files)
  for (const event of ['uncaughtException', 'unhandledRejection'])
    process.removeAllListeners(event).on(event, reportUncaught)
  events.on('test:enqueue', (test) => enqueued.set(test.testId, test))
  events.on('test:dequeue', ({ testId, nesting, file }) => {
    const test = enqueued.get(testId)
    if (test) underWay.set(testId, test)
    if (nesting === 0) write({ kind: 'begun', file: file ?? '' })
  })
  events.on('test:complete', (completed) => {
    underWay.delete(completed.testId)
    const result = resultOf(completed)
    if (result) writeTest(result)
  })
  events.resume()
  // This hook belongs to all files and runs when all tests have ended.
  after(async () => {
    for (const file of files) {
      const result = await loadedResult(file)
      if (result) writeTest(result)
    }
    write({ kind: 'end' })
    // A handle that a failed test leaves open must not keep the files from their end.
    process.exit()
  })
}

if (import.meta.main) runFiles(process.argv.slice(2))
