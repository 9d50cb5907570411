/** The kind of a body: by its media type, and by its first bytes where servers send a wrong type. */
import type { ResultContent } from '@steward/protocol/content.ts'

export type ContentShape = { kind: 'html' | 'pdf' | 'text' } | { kind: 'image'; media_type: string }

const largestImage = 5 * 1024 * 1024
const imageStarts: [string, RegExp][] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
]
const textTypes =
  /^(text\/.*|application\/(.+\+)?(json|xml|yaml|javascript|toml|graphql|x-ndjson|x-yaml|x-sh|sql))$/

/** Undefined for content that a model cannot read. */
export function detectShape({
  type,
  bytes,
}: {
  type: string
  bytes: Buffer
}): ContentShape | undefined {
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const start = bytes.subarray(0, 512).toString('latin1')
  if (/^\s*%PDF-/.test(start)) return { kind: 'pdf' }
  const image = imageStarts.find(([, pattern]) => pattern.test(start))?.[0]
  if (image) return { kind: 'image', media_type: image }
  if (media === 'text/html' || media === 'application/xhtml+xml') return { kind: 'html' }
  if (textTypes.test(media)) return { kind: 'text' }
  if (media !== '' && media !== 'application/octet-stream') return undefined
  if (/^\s*(<!doctype html|<html)/i.test(start)) return { kind: 'html' }
  return isBinary(bytes) ? undefined : { kind: 'text' }
}

const isBinary = (bytes: Uint8Array): boolean =>
  bytes.subarray(0, 512).some((byte) => byte < 0x1b && (byte < 0x09 || byte > 0x0d))

/** Undefined for an image that is too large for a model. */
export function toPicture(
  media_type: string,
  { bytes, isWhole }: { bytes: Buffer; isWhole: boolean },
): ResultContent | undefined {
  if (!isWhole || bytes.length > largestImage) return undefined
  return { type: 'image', source: { type: 'base64', media_type, data: bytes.toString('base64') } }
}
