/** Blobs as objects of one bucket, in any store with the S3 protocol. */
import { Readable } from 'node:stream'
import { BlobStoreError } from '../core/errors.ts'
import type { Blobs, ByteRange } from './blobs.ts'
import { checkKey, checkPrefix, isKey } from './blobs.ts'
import { uploadObject } from './s3-upload.ts'
import type { BucketAnswer, Bucket } from './s3-wire.ts'
import { xmlElements, bucketFailure, s3Wire, xmlOf, xmlText } from './s3-wire.ts'

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
    return drained(answer, { size: Number(answer.headers['content-length']) })
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
      for (let at = 0; at < page.found.length; at += deletedAtOnce) {
        const some = page.found.slice(at, at + deletedAtOnce)
        await Promise.all(some.map(({ name }) => remove(wire, name)))
      }
      return !page.isTruncated
    },
    async *list(prefix) {
      const below = under + checkPrefix(prefix)
      let marker = ''
      for (;;) {
        const page = await pageOf(wire, { prefix: below, marker, 'max-keys': String(pageLength) })
        for (const { name, ...found } of page.found) {
          const key = name.slice(under.length)
          if (isKey(key)) yield { key, ...found }
        }
        const last = page.found.at(-1)
        if (!page.isTruncated || !last) return
        marker = last.name
      }
    },
  }
}

async function remove(wire: Wire, name: string): Promise<void> {
  const answer = await wire.ask({ method: 'DELETE', name })
  if (answer.statusCode >= 300 && answer.statusCode !== 404)
    throw await bucketFailure(answer, `${name} could not be deleted`)
  await answer.body.dump()
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
  if (statusCode === 200 || statusCode === 206) return found(answer)
  if (statusCode === 416) return drained(answer, 'empty' as const)
  const why = await bucketFailure(answer, `${name} could not be read`)
  if (statusCode === 404 && why.message.includes('NoSuchKey')) return undefined
  throw why
}

/** The parser of the answer sees to it that the body has as many bytes as its head says. */
function found(answer: BucketAnswer): { size: number; body: Readable } {
  const { statusCode, headers, body } = answer
  const size = statusCode === 206 ? sizeOf(answer) : Number(headers['content-length'])
  if (headers['content-length'] !== undefined && Number.isSafeInteger(size)) return { size, body }
  body.destroy()
  throw new BlobStoreError(new Error('the blob store gave an object without its size'))
}

const sizeOf = ({ headers }: BucketAnswer): number =>
  Number(/\/(\d+)$/.exec(String(headers['content-range']))?.[1])

async function drained<T>({ body }: BucketAnswer, value: T): Promise<T> {
  await body.dump()
  return value
}

/** A page of the listing, version 1: every store supports it, and any key can be its marker. */
async function pageOf(wire: Wire, query: Record<string, string>) {
  const answer = await wire.ask({ method: 'GET', query })
  if (answer.statusCode !== 200) throw await bucketFailure(answer, 'its bucket could not be listed')
  const xml = await xmlOf(answer)
  return {
    found: xmlElements(xml, 'Contents').map((each) => ({
      name: xmlText(each, 'Key') ?? '',
      size: Number(xmlText(each, 'Size')),
      modifiedMs: Date.parse(xmlText(each, 'LastModified') ?? ''),
    })),
    isTruncated: xmlText(xml, 'IsTruncated') === 'true',
  }
}
