/** Bytes that stay the same while the process runs, compressed for callers that accept it. */
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Header } from '../caller.ts'
import { entityTag, isKnownTo, unchangedReply } from '../entity-tag.ts'
import type { RouteReply } from '../reply.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/**
 * Loaded with the first request, and kept compressed alone, as hardly anybody asks for the plain bytes. `headers`:
 * those that do not tell length, encoding or version.
 */
export function packedBytes(load: () => Promise<Buffer>, headers: readonly [string, string][]) {
  const kept = runOnce(async () => {
    const bytes = await load()
    return { packed: await pack(bytes), tag: entityTag(bytes) }
  })
  return async ({ header }: { header: Header }): Promise<RouteReply> => {
    const { packed, tag } = await kept()
    const all: [string, string][] = [...headers, ['etag', tag], ['vary', 'accept-encoding']]
    if (isKnownTo(header, tag)) return unchangedReply(all)
    const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
      header('accept-encoding') ?? '',
    )
    const bytes = isPacked ? packed : await unpack(packed)
    all.push(['content-length', String(bytes.length)])
    if (isPacked) all.push(['content-encoding', 'gzip'])
    return { reply: 'raw', status: 200, headers: all, body: Readable.from([bytes]) }
  }
}
