/** How the content of a file is shown: as a picture, as text, or not at all. */
import type { FileMetadata } from '../../lib/api/types.ts'

export type FileView =
  | { kind: 'text'; text: string }
  | { kind: 'image'; bytes: Blob }
  | { kind: 'none' | 'empty' | 'large' }

/** Bytes of a text that are shown at most. */
export const longestText = 512 * 1024
/** Bytes of a picture that is shown. */
export const largestImage = 20 * 1024 * 1024

/** Pictures without scripts in them. SVG is a document, and shown as its text. */
const pictures = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
])

/** `bytes`: what it is, is seen when they have come. */
export function viewOf({
  mime_type,
  size_bytes,
}: Pick<FileMetadata, 'mime_type' | 'size_bytes'>): 'empty' | 'large' | 'image' | 'bytes' {
  if (size_bytes === 0) return 'empty'
  if (!pictures.has(mime_type)) return 'bytes'
  return size_bytes > largestImage ? 'large' : 'image'
}

/** The last character of a cut text may miss some of its bytes. */
const longestCharacter = 4

export function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false
  for (let cut = 0; cut < longestCharacter && cut < bytes.length; cut++) {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.length - cut))
      return true
    } catch {
      continue
    }
  }
  return false
}
