/** Forms of the answers that the documentation is made of. */
import { Readable } from 'node:stream'
import { packedBytes } from '../../ground/http/bodies/packed-bytes.ts'
import type { Header } from '../../ground/http/caller.ts'
import { entityTag, isKnownTo, unchangedReply } from '../../ground/http/entity-tag.ts'
import type { RouteReply } from '../../ground/http/reply.ts'

export type DocsAnswer = (call: { header: Header }) => Promise<RouteReply>

/** Nothing runs, and nothing is loaded but styles and pictures of this service. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headersOf = (type: string): [string, string][] => [
  ['content-type', type],
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-cache'],
]

const htmlType = 'text/html; charset=utf-8'

/** A text that is made with the first request and kept. */
export const textAnswer = (type: string, make: () => Promise<string> | string): DocsAnswer =>
  packedBytes(async () => Buffer.from(await make()), headersOf(type))

export const pageAnswer = (make: () => Promise<string>): DocsAnswer => textAnswer(htmlType, make)

/** Bytes that are read with each request. */
export const bytesAnswer =
  (type: string, read: () => Promise<Buffer>): DocsAnswer =>
  async ({ header }) => {
    const bytes = await read()
    const tag = entityTag(bytes)
    const headers: [string, string][] = [...headersOf(type), ['etag', tag]]
    if (isKnownTo(header, tag)) return unchangedReply(headers)
    headers.push(['content-length', String(bytes.length)])
    return { reply: 'raw', status: 200, headers, body: Readable.from([bytes]) }
  }

/** Sends the caller to another address by a relative link. */
export const movedAnswer =
  (location: string): DocsAnswer =>
  async () => ({ reply: 'empty', status: 308, headers: { location, 'cache-control': 'no-cache' } })

export function absentReply(page: string): RouteReply {
  const bytes = Buffer.from(page)
  const headers: [string, string][] = [
    ...headersOf(htmlType),
    ['content-length', String(bytes.length)],
  ]
  return { reply: 'raw', status: 404, headers, body: Readable.from([bytes]) }
}
