/** One test file in a process of its own, so that a failure, a hang or a crash has the name of its file. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Report, TestResult } from './test-reporter.ts'
import { reportDescriptor } from './test-reporter.ts'

export type FileResult = {
  file: string
  pid: number
  seconds: number
  /** Of a processor, without those of Postgres and of programs that the file did not see end. */
  computed: number
  tests: TestResult[]
  /** Why the file failed as a whole: it hung, crashed or ran no test. */
  problem: string | undefined
  /** The last of what the file wrote to its outputs. */
  output: string
}

export type FileRun = {
  env: Record<string, string>
  /** A file that takes longer is killed and has failed. */
  deadlineSeconds: number
  onTest: (result: TestResult) => void
}

const mostOutput = 16_384
const options = [
  '--test',
  '--test-isolation=none',
  '--test-timeout=60000',
  // A handle that a failed test leaves open must not keep the file from its end.
  '--test-force-exit',
  `--test-reporter=${join(import.meta.dirname, 'test-reporter.ts')}`,
  '--test-reporter-destination=stdout',
]

const running = new Set<ChildProcess>()

/** Kills the files that run, with the servers and workers that they have started. */
export function killAll(): void {
  for (const child of running) killGroup(child)
}

export async function runFile(
  file: string,
  { env, deadlineSeconds, onTest }: FileRun,
): Promise<FileResult> {
  const began = performance.now()
  const child = spawn(process.execPath, [...options, file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // The leader of a group of its own, which is killed as a whole.
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
    killGroup(child)
  }, deadlineSeconds * 1000)
  const exit = await exitOf(child)
  clearTimeout(deadline)
  // What the file left behind would otherwise run on beside the files after it.
  killGroup(child)
  running.delete(child)
  const { tests, hasEnded, computed } = await reports
  return {
    ...{ file, tests, output, computed, pid: child.pid ?? 0 },
    seconds: (performance.now() - began) / 1000,
    problem: problemOf({ exit, tests, hasEnded, late: isLate ? deadlineSeconds : undefined }),
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** In words. */
const exitOf = (child: ChildProcess): Promise<{ code: number | null; words: string }> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve({ code, words: signal ? `killed by ${signal}` : `exit code ${code}` }),
    )
  })

async function readReports(
  child: ChildProcess,
  onTest: FileRun['onTest'],
): Promise<{ tests: TestResult[]; hasEnded: boolean; computed: number }> {
  const input = child.stdio[reportDescriptor] as NodeJS.ReadableStream
  const tests: TestResult[] = []
  let hasEnded = false
  let computed = 0
  for await (const line of createInterface({ input })) {
    const report = JSON.parse(line) as Report
    if (report.kind === 'end') hasEnded = true
    else if (report.kind === 'computed') computed = report.seconds
    else {
      tests.push(report.result)
      onTest(report.result)
    }
  }
  return { tests, hasEnded, computed }
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
  if (!tests.some(({ outcome }) => outcome !== 'skipped')) return 'it ran no test'
  const hasFailed = tests.some(({ outcome }) => outcome === 'failed')
  return exit.code !== 0 && !hasFailed ? `no test failed, but ${exit.words}` : undefined
}
