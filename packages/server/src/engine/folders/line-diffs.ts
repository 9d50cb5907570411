/** Unified diffs of texts, made in a thread that is ended when it takes too much time or memory. */
import { Worker } from 'node:worker_threads'

/** Null for a text that is not there. */
export type TextPair = {
  name: string
  before: string | null
  after: string | null
}
/** `index`: of the pair. */
export type LineDiff = { index: number; text: string; added: number; removed: number }

const mostMs = 10_000
const memoryMb = 256

/** The diffs by the index of their pairs. A pair that takes too long has none. */
export async function diffLines(
  pairs: readonly TextPair[],
  signal: AbortSignal,
): Promise<Map<number, LineDiff>> {
  const diffs = new Map<number, LineDiff>()
  if (pairs.length === 0) return diffs
  const worker = new Worker(new URL('./line-diff-thread.ts', import.meta.url), {
    workerData: pairs,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  })
  const until = AbortSignal.any([signal, AbortSignal.timeout(mostMs)])
  try {
    await new Promise<void>((resolve) => {
      worker.on('message', (diff: LineDiff) => diffs.set(diff.index, diff))
      worker.once('error', () => resolve())
      worker.once('exit', () => resolve())
      until.addEventListener('abort', () => resolve(), { once: true })
    })
  } finally {
    await worker.terminate()
  }
  return diffs
}
