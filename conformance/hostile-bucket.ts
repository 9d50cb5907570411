/**
 * A bucket that keeps nothing, and turns hostile when it is told to: it says nothing, gives errors, lists and objects
 * without an end, or a byte now and then. It runs on its own thread, so that writing costs the measured process nothing.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { toFile } from '@anthropic-ai/sdk'
import type { ServiceClients } from './service.ts'

export async function startHostileBucket() {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: 'bucket' })
  const [port] = (await once(worker, 'message')) as [number]
  return {
    /** `STORE_BACKENDS` of a server that uses the bucket. */
    setting: JSON.stringify({
      blobs: {
        ...{ type: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'hostile', region: 'here' },
        ...{ access_key_id: 'key', secret_access_key: 'secret' },
      },
    }),
    /** Resolves when ten requests have met it. Rejects after 20 s. */
    async turnHostile(): Promise<void> {
      worker.postMessage('hostile')
      await once(worker, 'message', { signal: AbortSignal.timeout(20_000) })
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

export type HostileBucket = Awaited<ReturnType<typeof startHostileBucket>>

/** Uploads and downloads files while the bucket of the server is hostile, until the signal. */
export async function attackByBucket(
  bucket: HostileBucket,
  { client }: ServiceClients,
  { until, took }: { until: AbortSignal; took: () => void },
): Promise<void> {
  const file = () => toFile(Buffer.alloc(100_000, 'x'), 'a.txt')
  const upload = async () =>
    client.files.upload({ file: await file() }, { maxRetries: 0, signal: until })
  const { id } = await upload()
  const download = async () =>
    (await client.files.download(id, {}, { maxRetries: 0, signal: until })).text()
  const flooding = Array.from({ length: 20 }, async () => {
    while (!until.aborted) {
      await upload().catch(() => sleep(5))
      await download().catch(() => sleep(5))
    }
  })
  await bucket.turnHostile()
  took()
  await Promise.all(flooding)
}

if (!isMainThread && parentPort && workerData === 'bucket') {
  const parent = parentPort
  let isHostile = false
  let met = 0
  const large = Buffer.alloc(64 * 1024, '<Contents><Key>x</Key></Contents>')

  function without(response: ServerResponse, status: number): void {
    response.writeHead(status, { 'content-type': 'application/xml' })
    const writeMore = () => {
      while (!response.destroyed && response.write(large));
    }
    response.on('drain', writeMore)
    writeMore()
  }
  const answers: ((response: ServerResponse) => void)[] = [
    () => {},
    (response) => without(response, 500),
    (response) => without(response, 403),
    (response) => without(response, 200),
    (response) => {
      response.writeHead(200, { 'content-length': 1_000_000 })
      const timer = setInterval(() => response.write('x'), 100)
      response.once('close', () => clearInterval(timer))
    },
  ]
  parent.on('message', () => (isHostile = true))
  const server = createServer((request, response) => {
    request.resume()
    // Nothing that is written for it is sent, and so nothing ends the writing.
    if (isHostile && request.method !== 'HEAD') {
      if (++met === 10) parent.postMessage('met')
      return answers[met % answers.length]?.(response)
    }
    request.once('end', () => {
      if (request.method === 'GET')
        response.end('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>')
      else response.writeHead(200, { etag: '"x"', 'content-length': 0 }).end()
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    parent.postMessage(typeof address === 'object' && address ? address.port : 0)
  })
}
