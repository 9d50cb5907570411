/** Answers with the bytes of a file, all of them or a range. RFC 9110 14 */
import type { Readable } from 'node:stream'
import type { Blobs, ByteRange } from '../../ground/blobs/blobs.ts'
import { FileRangeError, invalid, PlatformError } from '../../ground/core/errors.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { attachmentHeaders } from '../../ground/http/attachment.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { RawRequest } from '../../ground/http/route.ts'
import { isExpired } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

/** What a route of `downloadFile` declares. */
export const downloadAnswers = {
  answer: 'bytes',
  mediaTypes: ['*/*'],
  further: [
    {
      status: 206,
      answer: 'bytes',
      mediaTypes: ['*/*'],
      description: 'A part of the bytes, for a request with `Range`.',
    },
    { status: 416, answer: 'none', description: 'The bytes end before the range begins.' },
  ],
} as const

type RawReply = Extract<RouteReply, { reply: 'raw' }>

export async function downloadFile(
  { blobs, clock }: { blobs: Blobs; clock: Clock },
  { db, tenant, id }: { db: Database; tenant: string; id: string },
  { headers }: RawRequest,
): Promise<RawReply> {
  const row = await rows(db.read, 'files').get(tenant, id)
  if (isExpired(row, clock.now()) || row.blob_key === null) throw expired(id)
  if (row.downloadable !== 1)
    throw invalid(`file ${id} may not be downloaded`, 'file_not_downloadable')
  const { size_bytes: size } = row
  const etag = `"${row.sha256}"`
  const header = (name: string) => headers.find(([each]) => each.toLowerCase() === name)?.[1]
  const condition = header('if-range')
  const range =
    condition === undefined || condition === etag ? parseRange(header('range'), size) : undefined
  if (range === 'unsatisfiable') throw new FileRangeError(size)
  const found = await blobs.get(row.blob_key, range)
  if (!found) {
    // When the file was deleted since the row was read, this read throws not_found.
    await rows(db.read, 'files').get(tenant, id)
    throw new Error(`the bytes of file ${id} are missing`)
  }
  const about: [string, string][] = [
    ...attachmentHeaders(row.filename, row.mime_type),
    ['accept-ranges', 'bytes'],
    ['etag', etag],
  ]
  if (!range) return answer(200, found.body, [...about, ['content-length', String(size)]])
  return answer(206, found.body, [
    ...about,
    ['content-range', `bytes ${range.start}-${range.end - 1}/${size}`],
    ['content-length', String(range.end - range.start)],
  ])
}

const answer = (status: number, body: Readable, headers: [string, string][]): RawReply => ({
  reply: 'raw',
  status,
  headers,
  body,
  ours: true,
})

const expired = (id: string) =>
  new PlatformError('not_found', `file ${id} has expired: its bytes are gone`, {
    error_code: 'file_expired',
  })

/** The requested range. Several ranges, or an invalid one, count as none, as the standard allows. */
export function parseRange(
  header: string | undefined,
  size: number,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    const start = Math.max(0, size - Number(last))
    return start < size ? { start, end: size } : 'unsatisfiable'
  }
  const start = Number(first)
  const end = last === '' ? size : Math.min(size, Number(last) + 1)
  if (last !== '' && Number(last) < start) return undefined
  return start < size ? { start, end } : 'unsatisfiable'
}
