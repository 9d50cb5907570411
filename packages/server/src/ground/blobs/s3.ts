/** Blobs as objects of one bucket, in any store with the S3 protocol. */
import { Readable } from 'node:stream'
import { BlobStoreError } from '../core/errors.ts'
import type { Blobs, ByteRange } from './blobs.ts'
import { checkKey, checkPrefix, clampRange, isKey } from './blobs.ts'
import { uploadObject } from './s3-upload.ts'
import type { BucketAnswer } from './s3-answers.ts'
import { bucketFailure, dropBody, xmlElements, readXml, xmlText } from './s3-answers.ts'
import type { Bucket } from './s3-wire.ts'
import { s3Wire } from './s3-wire.ts'

type Wire = ReturnType<typeof s3Wire>

const deletedAtOnce = 8

/**
 * `prefix` has no slash at its ends. Throws when the bucket cannot be listed. An unfinished upload of a dead process is
 * no blob; a lifecycle rule of the bucket removes it.
 */
export async function s3Blobs({
  prefix,
  pageLength = 1000,
  ...bucket
}: Bucket & { prefix: string; pageLength?: number }): Promise<Blobs> {
  const wire = s3Wire(bucket)
  const under = prefix ? `${prefix}/` : ''
  const nameOf = (key: string) => under + checkKey(key)
  await pageOf(wire, { prefix: under, 'max-keys': '1' })

  async function head(key: string): Promise<{ size: number } | undefined> {
    const answer = await wire.ask({ method: 'HEAD', name: nameOf(key) })
    if (answer.statusCode === 404) return drained(answer, undefined)
    if (answer.statusCode !== 200)
      throw await bucketFailure(answer, `${key} could not be looked up`)
    return drained(answer, { size: sizeIn(answer.headers['content-length']) })
  }

  return {
    put: async (key, body) => uploadObject(wire, nameOf(key), body),
    async get(key, range) {
      const isEmpty = range?.end !== undefined && range.end <= range.start
      const found = isEmpty ? 'empty' : await open(wire, nameOf(key), range)
      if (found !== 'empty') return found
      const there = await head(key)
      return there && { size: there.size, body: Readable.from([]) }
    },
    head: async (key) => head(key),
    delete: async (key) => remove(wire, nameOf(key)),
    async deleteBelow(prefix) {
      const below = under + checkPrefix(prefix)
      const page = await pageOf(wire, { prefix: below, 'max-keys': String(pageLength) })
      const names = page.found.map(({ name }) => name).filter((name) => isBelow(name, below))
      if (page.isTruncated && names.length === 0) throw noProgress()
      for (let at = 0; at < names.length; at += deletedAtOnce) {
        const some = names.slice(at, at + deletedAtOnce)
        await Promise.all(some.map((name) => remove(wire, name)))
      }
      return !page.isTruncated
    },
    async *list(prefix) {
      const below = under + checkPrefix(prefix)
      let marker = ''
      for (;;) {
        const page = await pageOf(wire, { prefix: below, marker, 'max-keys': String(pageLength) })
        for (const { name, ...found } of page.found) {
          if (isBelow(name, below)) yield { key: name.slice(under.length), ...found }
        }
        if (!page.isTruncated) return
        const last = page.found.at(-1)?.name ?? ''
        if (last === marker) throw noProgress()
        marker = last
      }
    },
  }
}

/** A name that a list gives becomes the path of a request, so it must be a key. */
const isBelow = (name: string, prefix: string): boolean => name.startsWith(prefix) && isKey(name)

const noProgress = () =>
  new BlobStoreError(new Error('the blob store gives a list that does not go on'))

async function remove(wire: Wire, name: string): Promise<void> {
  const answer = await wire.ask({ method: 'DELETE', name })
  if (answer.statusCode >= 300 && answer.statusCode !== 404)
    throw await bucketFailure(answer, `${name} could not be deleted`)
  await dropBody(answer)
}

/** `empty`: the range begins at the blob's end or after it. */
async function open(wire: Wire, name: string, range?: ByteRange) {
  const last = range?.end === undefined ? '' : range.end - 1
  const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${last}` } : {}
  const answer = await wire.ask({ method: 'GET', name, headers })
  const { statusCode, body } = answer
  if (statusCode === 200 && range) {
    // The store does not support ranges.
    body.destroy()
    throw new Error(`the blob store gave all of ${name} where a range was asked for`)
  }
  if (statusCode === 200 || (statusCode === 206 && range)) return found(answer, range)
  if (statusCode === 416) return drained(answer, 'empty' as const)
  const why = await bucketFailure(answer, `${name} could not be read`)
  if (statusCode === 404 && why.message.includes('NoSuchKey')) return undefined
  throw why
}

/** The parser of the answer sees to it that the body has as many bytes as its head says. */
function found(
  { statusCode, headers, body }: BucketAnswer,
  range: ByteRange | undefined,
): { size: number; body: Readable } {
  try {
    const given = sizeIn(headers['content-length'])
    if (statusCode === 200) return { size: given, body: ofStore(body) }
    const [, first, last, size] =
      /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(headers['content-range']))?.map(Number) ?? []
    const { start, end } = clampRange(sizeIn(size), range)
    if (first !== start || last !== end - 1 || given !== end - start)
      throw new BlobStoreError(
        new Error('the blob store gave another range than the one asked for'),
      )
    return { size: sizeIn(size), body: ofStore(body) }
  } catch (error) {
    body.destroy()
    throw error
  }
}

/**
 * The body, which fails with a `BlobStoreError` where the connection does, and with the error of its reader as it is. A
 * stream around it would copy each piece through another queue.
 */
function ofStore(body: Readable): Readable {
  const destroy = body.destroy.bind(body)
  body.destroy = (error?: NodeJS.ErrnoException) =>
    destroy(error && brokenOff.test(error.code ?? '') ? new BlobStoreError(error) : error)
  return body
}

/** Codes of a connection that ends, says nothing, or does not speak HTTP. */
const brokenOff = /^(UND_ERR_(?!ABORT)|HPE_|ECONNRESET$|ETIMEDOUT$)/

/** Throws a `BlobStoreError` for what is no number of bytes. */
function sizeIn(header: string | string[] | number | undefined): number {
  const size = Number(header)
  if (header !== undefined && header !== '' && Number.isSafeInteger(size) && size >= 0) return size
  throw new BlobStoreError(new Error('the blob store gave an object without its size'))
}

async function drained<T>(answer: BucketAnswer, value: T): Promise<T> {
  await dropBody(answer)
  return value
}

/** A page of the listing, version 1: every store supports it, and any key can be its marker. */
async function pageOf(wire: Wire, query: Record<string, string>) {
  const answer = await wire.ask({ method: 'GET', query })
  if (answer.statusCode !== 200) throw await bucketFailure(answer, 'its bucket could not be listed')
  const xml = await readXml(answer)
  if (!xml.includes('<ListBucketResult'))
    throw new BlobStoreError(new Error('the blob store answered with something that is no list'))
  return {
    found: Array.from(xmlElements(xml, 'Contents'), (each) => ({
      name: xmlText(each, 'Key') ?? '',
      size: Number(xmlText(each, 'Size')),
      modifiedMs: Date.parse(xmlText(each, 'LastModified') ?? ''),
    })),
    isTruncated: xmlText(xml, 'IsTruncated') === 'true',
  }
}
