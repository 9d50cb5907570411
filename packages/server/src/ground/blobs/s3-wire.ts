/** Signed requests to one bucket, with retries. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import { BlobStoreError } from '../core/errors.ts'
import { sendRequest } from '../core/security/undici.ts'
import type { BucketAnswer } from './s3-answers.ts'
import { bodyTimeout, dropBody } from './s3-answers.ts'

export type Bucket = {
  /** URL without a path. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  /** SECRET: never logged. */
  secretAccessKey: string
  /** True: the bucket is the first segment of the path. False: the first label of the host name. */
  pathStyle: boolean
  /** Default: the dispatcher of the process. */
  dispatcher?: Dispatcher
  /** Milliseconds before the first retry. Doubles with each retry. Default: 200. */
  retryMs?: number
  /** Milliseconds for the head of an answer to a request without a body. Default: 4,000. */
  patienceMs?: number
}

export type BucketRequest = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Name of the object. Default: the bucket itself. */
  name?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array
}

const mostAttempts = 4
/** A store that does not answer holds up whoever waits for it, so silence is met once more and not three times. */
const mostSilent = 2
/** A body that is sent extends the patience by the time that it takes at this rate. */
const slowestBytesPerMs = 100

export function s3Wire(bucket: Bucket) {
  const { accessKeyId, secretAccessKey, region, dispatcher } = bucket
  const { retryMs = 200, patienceMs = 4_000 } = bucket
  const root = new URL(bucket.endpoint)
  if (bucket.pathStyle) root.pathname = `/${bucket.bucket}/`
  else root.hostname = `${bucket.bucket}.${root.hostname}`
  /** Signing keys, valid for a day. */
  const cache = new Map<string, ArrayBuffer>()

  async function once({ method, name = '', query = {}, headers = {}, body }: BucketRequest) {
    const url = new URL(name, root)
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      cache,
    }).sign()
    const silence = new AbortController()
    const patience = patienceMs + (body?.byteLength ?? 0) / slowestBytesPerMs
    const timer = setTimeout(() => silence.abort(new SilentStoreError(patience)), patience)
    try {
      return await sendRequest(signed.url, {
        method,
        headers: Object.fromEntries(signed.headers),
        body: body ?? null,
        signal: silence.signal,
        headersTimeout: 0,
        bodyTimeout,
        ...(dispatcher ? { dispatcher } : {}),
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Repeats failed requests, which is safe for all requests here. The end of an upload needs to know `attempts`. Throws
   * a `BlobStoreError` when the store cannot be reached.
   */
  async function ask(asked: BucketRequest): Promise<BucketAnswer> {
    for (let attempts = 1; ; attempts++) {
      try {
        const answer = await once(asked)
        const isPassing = answer.statusCode >= 500 || answer.statusCode === 429
        if (!isPassing || attempts === mostAttempts) return { ...answer, attempts }
        await dropBody(answer)
      } catch (error) {
        if (isRefused(error)) throw error
        const most = error instanceof SilentStoreError ? mostSilent : mostAttempts
        if (attempts >= most) throw new BlobStoreError(error as Error)
      }
      await sleep(retryMs * 2 ** (attempts - 1))
    }
  }

  return { ask }
}

class SilentStoreError extends Error {
  override readonly name = 'SilentStoreError'

  constructor(patience: number) {
    super(`the blob store did not answer within ${Math.round(patience / 1000)} s`)
  }
}

const isRefused = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'EREFUSEDADDRESS'
