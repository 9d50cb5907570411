/** Versions of answers, so that a browser does not fetch again what it has. */
import { createHash } from 'node:crypto'
import type { Header } from './caller.ts'
import type { RouteReply } from './reply.ts'

/** A weak tag: the same for compressed and for plain bytes. */
export const entityTag = (bytes: Uint8Array): string =>
  `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`

/** True when the caller already has the version that the tag names. */
export function isKnownTo(header: Header, tag: string): boolean {
  const known =
    header('if-none-match')
      ?.split(',')
      .map((each) => each.trim()) ?? []
  return known.includes('*') || known.includes(tag)
}

/** `headers`: those of the answer with its bytes, but for their length and encoding. */
export const unchangedReply = (headers: readonly [string, string][]): RouteReply => ({
  reply: 'empty',
  status: 304,
  headers: Object.fromEntries(headers),
})
