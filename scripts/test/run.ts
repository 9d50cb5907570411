/** Runs entries with Node's own runner. */
import { run } from 'node:test'
import { flagsOfNode } from '../../packages/base/src/program-fixture.ts'
import type { Entry } from './entries.ts'
import type { FileResult, Listener } from './results.ts'
import { readResults } from './results.ts'

export type Run = {
  /** How many processes run at a time. */
  processes: number
  /** Time limit of a test, of a suite and of a hook. */
  limitSeconds: number
  /**
   * The run ends when nothing has ended for so much longer than the limit: a test that never gives way to a timer has no
   * time limit.
   */
  silenceSeconds?: number
  /** Garbage is collected in parallel threads, which shortens pauses and costs a tenth of the processors. */
  isTimed?: boolean
  /** Ends the run. */
  signal: AbortSignal
}

export async function runEntries(
  entries: readonly Entry[],
  { processes, limitSeconds, silenceSeconds = 60, isTimed = false, signal }: Run,
  listener: Listener,
): Promise<FileResult[]> {
  if (entries.length === 0) return []
  const silence = new AbortController()
  const stream = run({
    files: entries.map(({ module }) => module),
    isolation: 'process',
    concurrency: processes,
    timeout: limitSeconds * 1000,
    signal: AbortSignal.any([signal, silence.signal]),
    execArgv: [
      ...flagsOfNode,
      ...(isTimed ? [] : ['--single-threaded-gc']),
      `--import=${new URL('process.ts', import.meta.url).href}`,
    ],
  })
  const timer = setTimeout(() => silence.abort(), (limitSeconds + silenceSeconds) * 1000)
  stream.on('test:complete', () => timer.refresh())
  try {
    return await readResults(stream, entries, listener)
  } finally {
    clearTimeout(timer)
  }
}
