/**
 * A model endpoint whose answers never end. It runs on its own thread, so that writing them costs the measured process
 * nothing.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** The answer at the path `/INDEX` in the list: `begin` once, then `piece` repeated until the caller stops reading. */
export type EndlessAnswer = { status?: number; type?: string; begin?: string; piece: string }

type EndlessEndpoint = {
  /** Resolves when `least` requests have arrived in all. Rejects after 10 s. */
  asked(least: number): Promise<void>
  close(): Promise<void>
}

export async function startEndlessEndpoint(
  port: number,
  answers: readonly EndlessAnswer[],
): Promise<EndlessEndpoint> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { port, answers } })
  await once(worker, 'message')
  let requests = 0
  worker.on('message', () => requests++)
  return {
    async asked(least) {
      const signal = AbortSignal.timeout(10_000)
      while (requests < least) await once(worker, 'message', { signal })
    },
    async close() {
      await worker.terminate()
    },
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort
  const { port: listening, answers } = workerData as {
    port: number
    answers: readonly EndlessAnswer[]
  }
  const pieces = answers.map(({ piece }) => Buffer.from(piece))
  const server = createServer((request, response) => {
    request.resume()
    const at = Number(request.url?.split('/')[1])
    const { status = 200, type = 'text/event-stream', begin = '' } = answers[at] ?? {}
    port.postMessage('asked')
    response.writeHead(status, { 'content-type': type })
    response.write(begin)
    const writeMore = () => {
      while (!response.destroyed && response.write(pieces[at]));
    }
    response.on('drain', writeMore)
    writeMore()
  })
  server.listen(listening, '127.0.0.1', () => port.postMessage('listening'))
}
