/** An upstream's answer as its caller may see it: without what concerns one hop, and with secrets masked. */
import { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { Headers } from '@steward/gate/outbound.ts'
import { towardsCaller, without } from './headers.ts'
import type { Filter, Mask } from './mask.ts'

/** The answer could not be looked through; it is not passed on. */
export class Unreadable extends Error {
  constructor(encoding: string) {
    super(`the upstream answered in the content encoding ${encoding}, which cannot be read here`)
  }
}

export type Shown = { headers: Headers; decode: Transform | undefined; filter: Filter | undefined }

/** `bodiless`: an answer whose head alone says something about a body, to HEAD for one. Throws `Unreadable`. */
export function shown(headers: Headers, mask: Mask | undefined, bodiless: boolean): Shown {
  const kept = towardsCaller(headers)
  if (!mask) return { headers: kept, decode: undefined, filter: undefined }
  const masked = maskedHeaders(kept, mask)
  if (bodiless) return { headers: masked, decode: undefined, filter: undefined }
  const decode = decoderOf(encodingsOf(kept))
  const filter = mask.filter()
  if (!decode) return { headers: masked, decode, filter }
  return { headers: without(masked, 'content-encoding', 'content-length'), decode, filter }
}

export const maskedHeaders = (headers: Headers, mask: Mask | undefined): Headers =>
  mask ? headers.map(([name, value]) => [name, mask.text(value)]) : headers

/** The field may come more often than once, and name several. RFC 9110 8.4 */
const encodingsOf = (headers: Headers): string[] =>
  headers
    .filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.split(','))
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== '' && encoding !== 'identity')

/** Identity was asked for; some answer compressed all the same. */
function decoderOf(encodings: string[]): Transform | undefined {
  const [encoding, ...more] = encodings
  if (encoding === undefined) return undefined
  if (more.length > 0) throw new Unreadable(encodings.join(', '))
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    default:
      throw new Unreadable(encoding)
  }
}

export const filtering = (filter: Filter): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, filter.write(chunk))
    },
    flush(done) {
      done(null, filter.end())
    },
  })
