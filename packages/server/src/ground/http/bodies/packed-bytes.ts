/** Bytes that stay the same while the process runs, compressed for callers that accept it. */
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Header } from '../caller.ts'
import type { RouteReply } from '../reply.ts'

const pack = promisify(gzip)

/** Loaded and compressed with the first request, and kept. `headers`: those that do not tell length or encoding. */
export function packedBytes(load: () => Promise<Buffer>, headers: readonly [string, string][]) {
  const plain = keepFirst(load)
  const packed = keepFirst(async () => pack(await plain()))
  return async ({ header }: { header: Header }): Promise<RouteReply> => {
    const isPacked = /\bgzip\b/.test(header('accept-encoding') ?? '')
    const bytes = await (isPacked ? packed() : plain())
    const all: [string, string][] = [
      ...headers,
      ['content-length', String(bytes.length)],
      ['vary', 'accept-encoding'],
    ]
    if (isPacked) all.push(['content-encoding', 'gzip'])
    return { reply: 'raw', status: 200, headers: all, body: Readable.from([bytes]) }
  }
}

/** Keeps the result of the first call that succeeds. */
function keepFirst<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: { value: T } | undefined
  return async () => (kept ??= { value: await make() }).value
}
