/** Converts pages to text for a model, each in a thread that is ended when it takes too long. */
import { Worker } from 'node:worker_threads'

export type Conversion =
  | { kind: 'html' | 'bare'; html: string; url: string }
  | { kind: 'pdf'; bytes: Uint8Array }
export type ConvertedPage = { title: string; text: string }

/** The conversion time grows faster than the length of a page. */
const longestMs = 5_000
const memoryMb = 256
/** Undefined when the page is broken, or takes too much time or memory. The caller limits the threads. */
export async function convertPage(
  page: Conversion,
  signal: AbortSignal,
): Promise<ConvertedPage | undefined> {
  const worker = new Worker(new URL('./convert.ts', import.meta.url), {
    workerData: page,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  })
  const until = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
  try {
    return await new Promise<ConvertedPage | undefined>((resolve) => {
      worker.once('message', (converted: ConvertedPage) => resolve(converted))
      worker.once('error', () => resolve(undefined))
      worker.once('exit', () => resolve(undefined))
      until.addEventListener('abort', () => resolve(undefined), { once: true })
    })
  } finally {
    await worker.terminate()
  }
}
