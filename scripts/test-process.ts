/** Test files in a process of their own. A failure, a hang or a crash has the name of its file. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { flagsOfNode } from '../packages/base/src/program-fixture.ts'
import type { Report, TestResult } from './test-files.ts'
import { reportDescriptor, endSignal } from './test-files.ts'

export type FileResult = {
  file: string
  seconds: number
  /** Processor seconds, without Postgres and without programs whose end the file did not see. */
  computed: number
  tests: TestResult[]
  /** The reason why the file failed as a whole: it hung, crashed or ran no test. */
  problem: string | undefined
  /** The end of the file's output. */
  output: string
}

export type BatchRun = {
  env: Record<string, string>
  /** Time limit of a test, and of a hook. A test or a hook may have a limit of its own. */
  limitSeconds: number
  /** Time limit of a file. A file that takes longer is killed and counts as failed. */
  deadlineSeconds: number
  onTest: (result: TestResult) => void
}

/** True for the file that compares times of turns. It runs by itself after all others, and not in `npm test`. */
export const isTimed = (file: string): boolean => file === 'conformance/neighbours.test.ts'

/**
 * When several processes share the processors, garbage collection in parallel threads costs more than it saves: a tenth
 * of the computing time. Parallel threads shorten the pauses, so a file that compares times keeps them.
 */
const flagsFor = (files: readonly string[]): string[] =>
  files.some(isTimed) ? [...flagsOfNode] : [...flagsOfNode, '--single-threaded-gc']

const mostOutput = 16_384
/** The time in which a late process says what it waits for, before it is killed. */
const lastWordsMs = 2_000
const program = join(import.meta.dirname, 'test-files.ts')

const running = new Set<ChildProcess>()

/** Kills the running files, with the servers and workers that they have started. */
export function killAll(): void {
  for (const child of running) killGroup(child)
}

/** Files that ran in one process, one after the other. */
export type Batch = {
  pid: number
  results: FileResult[]
  /** Files that did not run to their end. Each runs again by itself, so that the file at fault is known. */
  rest: string[]
}

export async function runBatch(
  files: readonly string[],
  { env, limitSeconds, deadlineSeconds, onTest }: BatchRun,
): Promise<Batch> {
  const began = performance.now()
  const flags = [
    ...flagsFor(files),
    `--test-timeout=${limitSeconds * 1000}`,
    // Otherwise a report of what the process waits for asks a resolver for the name of each address.
    '--report-exclude-network',
  ]
  const child = spawn(process.execPath, [...flags, program, ...files], {
    // Otherwise Node takes this process for a part of the run that started it.
    env: { ...process.env, ...env, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // The process leads its own group, which is killed as a whole.
    detached: true,
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-mostOutput)
    })
  const reports = readReports(child, onTest)
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    child.kill(endSignal)
  }, deadlineSeconds * 1000)
  const end = setTimeout(() => killGroup(child), deadlineSeconds * 1000 + lastWordsMs)
  const exit = await exitOf(child)
  clearTimeout(deadline)
  clearTimeout(end)
  // Programs that the files left behind would run on beside the next files.
  killGroup(child)
  running.delete(child)
  const reported = await reports
  const late = isLate ? deadlineSeconds : undefined
  const problem = problemOf({ exit, ...reported, late })
  const seconds = (performance.now() - began) / 1000
  return {
    pid: child.pid ?? 0,
    ...resultsOf(files, { ...reported, problem, output, seconds }),
  }
}

type Reported = { tests: TestResult[]; begun: string[]; hasEnded: boolean; computed: number }
type Ran = Reported & Pick<FileResult, 'problem' | 'output' | 'seconds'>

function resultsOf(files: readonly string[], ran: Ran): Pick<Batch, 'results' | 'rest'> {
  const { tests, begun, computed, problem, output, seconds } = ran
  const [first = ''] = files
  if (files.length === 1)
    return {
      results: [{ file: first, tests, computed, seconds, output, problem: problem ?? idle(tests) }],
      rest: [],
    }
  const last = begun.at(-1)
  const strangers = tests.filter((each) => !files.includes(each.file))
  const ended =
    problem === undefined ? files : files.filter((file) => file !== last && begun.includes(file))
  const all = tests.reduce((sum, { ms }) => sum + ms, 1)
  const results = ended.map((file) => {
    const own = tests.filter((each) => each.file === file)
    const share = own.reduce((sum, { ms }) => sum + ms, 0) / all
    const parts = {
      computed: own.reduce((sum, each) => sum + each.computed, 0),
      seconds: seconds * share,
    }
    return { file, tests: own, output, ...parts, problem: idle(own) }
  })
  const blamed =
    strangers.length > 0
      ? `${strangers[0]?.path.join(' > ')} is of none of the files that ran: of ${strangers[0]?.file}`
      : problem
  if (blamed === undefined) return { results, rest: [] }
  const broken = { file: last ?? first, tests: [], computed: 0, seconds: 0 }
  return {
    results: [
      ...results,
      { ...broken, output, problem: `with ${files.length - 1} others: ${blamed}` },
    ],
    rest: files.filter((file) => !ended.includes(file)),
  }
}

const idle = (tests: readonly TestResult[]): string | undefined =>
  tests.some(({ outcome }) => outcome !== 'skipped') ? undefined : 'it ran no test'

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Resolves at the exit of the process, with the exit in words. */
const exitOf = (child: ChildProcess): Promise<{ code: number | null; words: string }> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve({ code, words: signal ? `killed by ${signal}` : `exit code ${code}` }),
    )
  })

async function readReports(child: ChildProcess, onTest: BatchRun['onTest']): Promise<Reported> {
  const input = child.stdio[reportDescriptor] as NodeJS.ReadableStream
  const tests: TestResult[] = []
  const begun: string[] = []
  let hasEnded = false
  let computed = 0
  for await (const line of createInterface({ input })) {
    const report = JSON.parse(line) as Report
    if (report.kind === 'end') hasEnded = true
    else if (report.kind === 'begun') begun.push(report.file)
    else if (report.kind === 'computed') computed = report.seconds
    else {
      tests.push(report.result)
      onTest(report.result)
    }
  }
  return { tests, begun, hasEnded, computed }
}

function problemOf({
  exit,
  tests,
  hasEnded,
  late,
}: {
  exit: { code: number | null; words: string }
  tests: TestResult[]
  hasEnded: boolean
  late: number | undefined
}): string | undefined {
  if (late !== undefined) return `it did not end within ${late} s and was killed`
  // A test that ends the process leaves an exit code of 0.
  if (!hasEnded) return `it ended before its tests: ${exit.words}`
  const hasFailed = tests.some(({ outcome }) => outcome === 'failed')
  return exit.code !== 0 && !hasFailed ? `no test failed, but ${exit.words}` : undefined
}
