/** An upstream's answer as the caller may see it: no hop-by-hop headers, and secrets masked. */
import { Duplex, pipeline, Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import type { MaskFilter, Mask } from '@steward/mask/mask.ts'
import { headersForCaller, dropHeaders } from './headers.ts'

/** The answer's content encoding is not supported, so the answer cannot be masked and is not passed on. */
export class UnreadableEncoding extends Error {
  constructor(encoding: string) {
    super(`the upstream answered in the content encoding ${encoding}, which cannot be read here`)
  }
}

export type AnswerFilter = {
  headers: HeaderPairs
  decode: Duplex | undefined
  filter: MaskFilter | undefined
}

/**
 * `bodiless`: the answer's head describes a body that does not follow, for example an answer to HEAD. Throws
 * `UnreadableEncoding`.
 */
export function answerFilter(
  headers: HeaderPairs,
  mask: Mask | undefined,
  bodiless: boolean,
): AnswerFilter {
  const all = maskedHeaders(headers, mask)
  const masked = headersForCaller(all)
  if (!mask || bodiless) return { headers: masked, decode: undefined, filter: undefined }
  // Headers of one hop count too. Attack: an upstream compresses as a transfer coding, or lists Content-Encoding in
  // Connection.
  const decode = decoderOf(encodingsOf(all))
  const filter = mask.filter()
  if (!decode) return { headers: masked, decode, filter }
  return { headers: dropHeaders(masked, 'content-encoding', 'content-length'), decode, filter }
}

/** Masks names as well as values, because an upstream chooses both. */
export const maskedHeaders = (headers: HeaderPairs, mask: Mask | undefined): HeaderPairs =>
  mask ? headers.map(([name, value]) => [mask.header(name), mask.header(value)]) : headers

/** Masks an error. Some errors quote the upstream, for example the names in its certificate. */
export function maskedError(error: unknown, mask: Mask | undefined): unknown {
  if (!mask || !(error instanceof Error)) return error
  for (const part of ['message', 'stack'] as const) {
    const text = error[part]
    const masked = text === undefined ? text : mask.text(text)
    // Some errors have a message that cannot be assigned.
    if (masked !== text) Object.defineProperty(error, part, { value: masked })
  }
  maskedError(error.cause, mask)
  if (error instanceof AggregateError) for (const each of error.errors) maskedError(each, mask)
  return error
}

/** Headers with encodings of a body, and the encoding that changes no byte of it. RFC 9110 8.4, RFC 9112 6.1, 7 */
const plainEncoding = new Map([
  ['content-encoding', 'identity'],
  ['transfer-encoding', 'chunked'],
])

/** Each header may occur several times and list several encodings. */
const encodingsOf = (headers: HeaderPairs): string[] =>
  headers.flatMap(([name, value]) => {
    const plain = plainEncoding.get(name.toLowerCase())
    if (plain === undefined) return []
    const encodings = value.split(',').map((encoding) => encoding.trim().toLowerCase())
    return encodings.filter((encoding) => encoding !== '' && encoding !== plain)
  })

/** The request asked for identity, but some upstreams compress all the same. */
function decoderOf(encodings: string[]): Duplex | undefined {
  const [encoding, ...more] = encodings
  if (encoding === undefined) return undefined
  if (more.length > 0) throw new UnreadableEncoding(encodings.join(', '))
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return Duplex.from(inflated)
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    default:
      throw new UnreadableEncoding(encoding)
  }
}

/** Some upstreams send `deflate` without the zlib header; the first byte shows which. RFC 9110 8.4.1.2 */
async function* inflated(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  const hasHead = ((first.value[0] ?? 0) & 0x0f) === 8
  const decode = hasHead ? createInflate() : createInflateRaw()
  async function* whole() {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  // The reader of `decode` gets the error.
  pipeline(whole, decode, () => {})
  yield* decode as AsyncIterable<Buffer>
}

export const filterStream = (filter: MaskFilter): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, filter.write(chunk))
    },
    flush(done) {
      done(null, filter.end())
    },
  })
