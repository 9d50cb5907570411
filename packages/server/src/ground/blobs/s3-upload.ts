/** Uploads a body of unknown length to a bucket, in parts, with two parts in memory. */
import { createHash } from 'node:crypto'
import { BlobStoreError } from '../core/errors.ts'
import type { BucketAnswer } from './s3-answers.ts'
import { bucketFailure, dropBody, reasonIn, readXml, xmlText } from './s3-answers.ts'
import type { s3Wire } from './s3-wire.ts'

type Wire = ReturnType<typeof s3Wire>
type UploadPart = { number: number; etag: string }

/** Bytes of one part. A blob has at most 10,000 parts. */
const partBytes = 8 * 1024 * 1024

/** Puts a body that fits one part at once. A longer object appears when its last part is uploaded. */
export async function uploadObject(
  wire: Wire,
  name: string,
  body: AsyncIterable<Uint8Array>,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  let size = 0
  let multipart: Multipart | undefined
  let spare: [Buffer, Buffer] | undefined
  let filling: Buffer = Buffer.alloc(0)
  let filled = 0

  async function flush(): Promise<void> {
    multipart ??= await begin(wire, name)
    await multipart.send(filling.subarray(0, filled))
    const [one, other] = (spare ??= [filling, Buffer.allocUnsafeSlow(partBytes)])
    filling = filling === one ? other : one
    filled = 0
  }

  try {
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.byteLength
      for (let at = 0; at < chunk.byteLength;) {
        if (filled === partBytes) await flush()
        filling = roomFor(filling, filled, chunk.byteLength - at)
        const taken = Math.min(filling.length - filled, chunk.byteLength - at)
        filling.set(chunk.subarray(at, at + taken), filled)
        filled += taken
        at += taken
      }
    }
    const rest = filling.subarray(0, filled)
    if (multipart) await multipart.end(rest, size)
    else await put(wire, name, rest)
  } catch (error) {
    // Why the body failed says more than why its upload could not be ended.
    await multipart?.abort().catch(() => {})
    throw error
  }
  return { size, sha256: hash.digest('hex') }
}

/** A buffer with room for `more` bytes. It grows up to a part, because many small blobs are written at a time. */
function roomFor(buffer: Buffer, used: number, more: number): Buffer {
  if (buffer.length - used >= more || buffer.length === partBytes) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.min(partBytes, Math.max(2 * (used + more), 16_384)))
  larger.set(buffer.subarray(0, used))
  return larger
}

async function put(wire: Wire, name: string, body: Uint8Array): Promise<void> {
  const answer = await wire.ask({ method: 'PUT', name, body })
  if (answer.statusCode !== 200) throw await bucketFailure(answer, `${name} could not be put`)
  await dropBody(answer)
}

type Multipart = {
  /** Resolves when the part before is uploaded. The given part must not change until the next call resolves. */
  send(part: Uint8Array): Promise<void>
  end(last: Uint8Array, size: number): Promise<void>
  abort(): Promise<void>
}

async function begin(wire: Wire, name: string): Promise<Multipart> {
  const answer = await wire.ask({ method: 'POST', name, query: { uploads: '' } })
  const what = `${name} could not be put`
  if (answer.statusCode !== 200) throw await bucketFailure(answer, what)
  const uploadId = xmlText(await readXml(answer), 'UploadId')
  if (!uploadId) throw new Error(`the blob store named no upload: ${what}`)
  const parts: UploadPart[] = []
  let underWay: Promise<unknown> = Promise.resolve()

  async function one(number: number, body: Uint8Array): Promise<void> {
    const query = { partNumber: String(number), uploadId: uploadId ?? '' }
    const sent = await wire.ask({ method: 'PUT', name, query, body })
    const { etag } = sent.headers
    if (sent.statusCode !== 200 || typeof etag !== 'string') throw await bucketFailure(sent, what)
    await dropBody(sent)
    parts.push({ number, etag })
  }
  let number = 0
  async function send(part: Uint8Array): Promise<void> {
    await underWay
    underWay = one(++number, part)
    // The next call reports the error; until then it must not count as unhandled.
    underWay.catch(() => {})
  }

  return {
    send,
    async end(last, size) {
      if (last.length > 0) await send(last)
      await underWay
      const xml = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts
        .map(
          (part) => `<Part><PartNumber>${part.number}</PartNumber><ETag>${part.etag}</ETag></Part>`,
        )
        .join('')}</CompleteMultipartUpload>`
      const body = Buffer.from(xml)
      const ended = await wire.ask({ method: 'POST', name, query: { uploadId }, body })
      if (ended.statusCode === 404 && ended.attempts > 1 && (await isThere(wire, name, size)))
        return dropBody(ended)
      await checkEnded(ended, { what, isThere: () => isThere(wire, name, size) })
    },
    async abort() {
      await underWay.catch(() => {})
      const gone = await wire.ask({ method: 'DELETE', name, query: { uploadId } })
      await dropBody(gone)
    },
  }
}

/** True when the object is complete. The end of an upload whose first answer was lost finds no upload when repeated. */
async function isThere(wire: Wire, name: string, size: number): Promise<boolean> {
  const found = await wire.ask({ method: 'HEAD', name })
  await dropBody(found)
  return found.statusCode === 200 && found.headers['content-length'] === String(size)
}

/**
 * Throws when the end failed. The store sends status 200 before it is done, so the body decides; where it says neither,
 * the object does.
 */
async function checkEnded(
  ended: BucketAnswer,
  { what, isThere }: { what: string; isThere: () => Promise<boolean> },
): Promise<void> {
  if (ended.statusCode !== 200) throw await bucketFailure(ended, what)
  const said = await readXml(ended)
  if (said.includes('<CompleteMultipartUploadResult')) return
  if (!said.includes('<Error') && (await isThere())) return
  const why = reasonIn(said) || 'what is no end of an upload'
  throw new BlobStoreError(new Error(`the blob store answered ${why}: ${what}`))
}
