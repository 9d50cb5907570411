/** Reads the events of Node's runner into results by file. Every file has a result, also one that never began. */
import type { TestsStream } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { Entry } from './entries.ts'

export type TestResult = {
  file: string
  /** The names of the suites around the test and its own name, outermost first. */
  path: string[]
  ms: number
  outcome: 'passed' | 'failed' | 'skipped'
  /** The error of a failed test; empty for a test that was cancelled with its suite. */
  problem: string
}

export type FileResult = {
  file: string
  seconds: number
  tests: TestResult[]
  /** The reason why the file failed as a whole: it did not load, ended early or ran no test. */
  problem: string | undefined
}

export type Listener = {
  onTest: (result: TestResult) => void
  /** `output`: the end of what the process of the entry printed. */
  onEntry: (results: FileResult[], output: string) => void
}

type Data<Type extends TestEvent['type']> = Extract<TestEvent, { type: Type }>['data']
/** Fields that the types of Node lack. `entryFile`: the module whose process sent the event. */
type Sent = {
  entryFile?: string
  testId?: number
  parentId?: number
  skip?: unknown
  todo?: unknown
}
type Completed = Data<'test:complete'> & Sent
type Failure = {
  failureType?: string
  cause?: unknown
  exitCode?: number | null
  signal?: string | null
}

/** Longest line of an error, because an assertion about a large body would fill the screen. */
const mostLine = 600
const mostProblem = 8_000
const mostOutput = 16_384

/** What is known of an entry while it runs. */
type Progress = {
  entry: Entry
  began: number
  names: Map<number, { name: string; parentId: number | undefined }>
  tests: TestResult[]
  /** The files whose suite has ended, of an entry that files share. */
  ended: Map<string, Pick<FileResult, 'seconds' | 'problem'>>
  output: string
}

export const nameOf = ({ path }: TestResult): string => path.join(' > ')

/** Failed tests, with the tests that were cancelled with a failed suite. */
export const failuresOf = ({ tests }: FileResult): TestResult[] =>
  tests.filter(({ outcome }) => outcome === 'failed')

export const hasFailed = (result: FileResult): boolean =>
  result.problem !== undefined || failuresOf(result).length > 0

/** Resolves at the end of the run. Throws when Node counts a failure that no file has. */
export async function readResults(
  stream: TestsStream,
  entries: readonly Entry[],
  { onTest, onEntry }: Listener,
): Promise<FileResult[]> {
  const began = performance.now()
  const running = new Map(
    entries.map((entry): [string, Progress] => [
      entry.module,
      { entry, began, names: new Map(), tests: [], ended: new Map(), output: '' },
    ]),
  )
  const results: FileResult[] = []
  let hasSucceeded = false
  function keepOutput({ file = '', message }: { file?: string | undefined; message: string }) {
    const progress = running.get(file)
    if (progress) progress.output = (progress.output + message).slice(-mostOutput)
  }
  stream.on('test:stdout', keepOutput)
  stream.on('test:stderr', keepOutput)
  stream.on('test:diagnostic', ({ message, entryFile }: Data<'test:diagnostic'> & Sent) => {
    if (message.startsWith('Error:')) keepOutput({ file: entryFile, message: `${message}\n` })
  })
  stream.on('test:dequeue', ({ name, entryFile }: Data<'test:dequeue'> & Sent) => {
    const progress = entryFile === undefined ? running.get(name) : undefined
    if (progress) progress.began = performance.now()
  })
  stream.on(
    'test:enqueue',
    ({ name, testId, parentId, entryFile = '' }: Data<'test:enqueue'> & Sent) => {
      if (testId !== undefined) running.get(entryFile)?.names.set(testId, { name, parentId })
    },
  )
  stream.on('test:complete', (completed: Completed) => {
    const progress = running.get(completed.entryFile ?? completed.name)
    if (progress && completed.entryFile !== undefined) addResult(progress, completed, onTest)
    if (!progress || completed.entryFile !== undefined) return
    running.delete(completed.name)
    const some = endEntry(progress, completed)
    results.push(...some)
    onEntry(some, progress.output)
  })
  stream.on('test:summary', ({ file, success }: Data<'test:summary'>) => {
    if (file === undefined) hasSucceeded = success
  })
  for await (const _ of stream) void _
  for (const { entry } of running.values())
    for (const file of entry.files)
      results.push({ file, seconds: 0, tests: [], problem: 'it did not run' })
  if (!hasSucceeded && !results.some(hasFailed))
    throw new Error('the runner of Node has counted a failure, and no file has one')
  return results
}

function pathOf(names: Progress['names'], id: number | undefined): string[] {
  const test = id === undefined ? undefined : names.get(id)
  return test ? [...pathOf(names, test.parentId), test.name] : []
}

function addResult(progress: Progress, completed: Completed, onTest: Listener['onTest']): void {
  const { entry, names, tests, ended } = progress
  const { passed, duration_ms, type, error } = completed.details
  const failure: Failure = error ?? {}
  const problem = passed ? '' : problemOf(failure)
  /** A suite failed by itself in a hook, or before its first test. */
  const isOwnFailure = !passed && failure.failureType !== 'subtestsFailed'
  const whole = [...pathOf(names, completed.parentId), completed.name]
  const [file = ''] = entry.isShared ? whole : entry.files
  if (entry.isShared && completed.nesting === 0)
    ended.set(file, { seconds: duration_ms / 1000, problem: isOwnFailure ? problem : undefined })
  else if (type !== 'suite' || isOwnFailure) {
    const outcome = (completed.skip ?? completed.todo) ? 'skipped' : passed ? 'passed' : 'failed'
    const path = entry.isShared ? whole.slice(1) : whole
    const result: TestResult = { file, path, ms: Math.round(duration_ms), outcome, problem }
    tests.push(result)
    onTest(result)
  }
}

const problemOf = (failure: Failure): string =>
  failure.failureType === 'cancelledByParent' ? '' : shorten(inspect(failure.cause ?? failure))

function endEntry({ entry, began, tests, ended }: Progress, { details }: Completed): FileResult[] {
  const { failureType, exitCode, signal }: Failure = details.error ?? {}
  const end = signal ? `killed by ${signal}` : `exit code ${exitCode ?? 'unknown'}`
  const crash =
    details.passed || failureType === 'subtestsFailed' ? undefined : `the process failed: ${end}`
  return entry.files.map((file) => {
    const own = tests.filter((each) => each.file === file)
    const whole = entry.isShared
      ? (ended.get(file) ?? { seconds: 0, problem: `its process ended before it: ${end}` })
      : { seconds: (performance.now() - began) / 1000, problem: undefined }
    const isIdle = own.every(({ outcome }) => outcome === 'skipped')
    const problem = whole.problem ?? crash ?? (isIdle ? 'it ran no test' : undefined)
    return { file, seconds: whole.seconds, tests: own, problem }
  })
}

const shorten = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line.length > mostLine ? `${line.slice(0, mostLine)}…` : line))
    .join('\n')
    .slice(0, mostProblem)
