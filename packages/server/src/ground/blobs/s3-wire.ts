/** Signed requests to one bucket, with retries, and the XML of its answers. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import { limitBytes } from '@steward/base/byte-limit.ts'
import { BlobStoreError } from '../core/errors.ts'
import { request } from '../core/undici.ts'

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

export type BucketAnswer = Dispatcher.ResponseData & { attempts: number }

const mostAttempts = 4
/** A store that does not answer holds up whoever waits for it, so silence is met once more and not three times. */
const mostSilent = 2
/** Milliseconds between two pieces of an answer's body. */
const bodyTimeout = 30_000
/** Bytes of a list or of an error; a list has a thousand keys. */
const longestXml = 4 * 1024 * 1024
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
      return await request(signed.url, {
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
        await answer.body.dump()
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

/** An error with the status and the reason of the blob store. A `BlobStoreError` when the store cannot serve now. */
export async function bucketFailure(
  { statusCode, body }: BucketAnswer,
  what: string,
): Promise<Error> {
  const said = await xmlOf({ body })
  const why = [xmlText(said, 'Code'), xmlText(said, 'Message')].filter(Boolean).join(': ')
  const error = new Error(`the blob store answered ${statusCode} (${why || 'no reason'}): ${what}`)
  return statusCode >= 500 || statusCode === 429 ? new BlobStoreError(error) : error
}

/** The XML of an answer. Throws a `BlobStoreError` when it is too long, or is not there in time. */
export async function xmlOf({ body }: Pick<BucketAnswer, 'body'>): Promise<string> {
  const tooLarge = () => new Error(`the blob store answered with more than ${longestXml} bytes`)
  const late = setTimeout(
    () => body.destroy(new Error(`the blob store did not end its answer within ${bodyTimeout} ms`)),
    bodyTimeout,
  )
  try {
    const pieces = await Array.fromAsync(limitBytes<Buffer>(body, longestXml, tooLarge))
    return Buffer.concat(pieces).toString()
  } catch (error) {
    throw new BlobStoreError(error as Error)
  } finally {
    clearTimeout(late)
  }
}

/** The text of the first element with the name. */
export function xmlText(xml: string, name: string): string | undefined {
  const inner = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return inner?.replaceAll(/&(amp|lt|gt|quot|apos|#34|#39);/g, (_, entity: string) => {
    return entities[entity] ?? ''
  })
}

export const xmlElements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner)

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
}
