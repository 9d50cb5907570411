/** Characters at either end that are read: an image may have tens of millions. */
const mostRead = 16 * 1024

/** The media type of base64 by its first bytes; undefined for what is no image that all providers read. */
export function imageKind(base64: string): string | undefined {
  const isLong = base64.length > 2 * mostRead
  const ends = isLong ? `${base64.slice(0, mostRead)}${base64.slice(-mostRead)}` : base64
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(ends)) return undefined
  const head = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1')
  const isWebp = head.startsWith('RIFF') && head.startsWith('WEBP', 8)
  return isWebp ? 'image/webp' : kinds.find(([, begin]) => head.startsWith(begin))?.[0]
}

const kinds: [string, string][] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
]
