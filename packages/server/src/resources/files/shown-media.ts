/** Decides which files of a message a model can be shown, and up to which size. */
import type { ResultContent, UserContent } from '@steward/protocol/content.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { anyType, mediaTypeOf } from './media-types.ts'
import type { FileRow } from './store.ts'
import { fileStore, isExpired } from './store.ts'

/** Bytes of one file, and of all files that one message names. */
const largest = 20 * 1024 * 1024
const together = 32 * 1024 * 1024

type ShownKind = 'image' | 'document'

const images = /^image\/(png|jpeg|gif|webp)$/
const texts = /^(text\/[\w.+-]+|application\/([\w.-]+\+)?(json|xml|yaml|javascript))$/

/** The media type that the model gets, or the reason why the file is refused. Any text is plain text to a model. */
export function shownAs(
  kind: ShownKind,
  { mime_type, filename, size_bytes }: FileRow,
): { ok: true; media_type: string } | { ok: false; message: string } {
  const type = mime_type === anyType ? mediaTypeOf(filename) : mime_type
  if (size_bytes > largest) return { ok: false, message: `it is larger than ${largest} bytes` }
  if (kind === 'image' ? images.test(type) : type === 'application/pdf')
    return { ok: true, media_type: type }
  if (kind === 'document' && texts.test(type)) return { ok: true, media_type: 'text/plain' }
  return { ok: false, message: `${type} is no ${kind} that a model takes` }
}

/** True when the message has files, which `checkShown` checks. */
export const namesFiles = (content: readonly (UserContent | ResultContent)[]): boolean =>
  content.some((block) => fileOf(block) !== undefined)

const fileOf = (block: UserContent | ResultContent) =>
  (block.type === 'image' || block.type === 'document') && block.source.type === 'file'
    ? { kind: block.type, id: block.source.file_id }
    : undefined

/** Refuses a message with files that no model can be shown, so that its turn need not fail. `at` names the message. */
export async function checkShown(
  { tx, tenant, now }: { tx: Queries; tenant: string; now: number },
  content: readonly (UserContent | ResultContent)[],
  at: string,
): Promise<void> {
  const wanted = content.flatMap((block, index) => {
    const file = fileOf(block)
    return file ? [{ ...file, index }] : []
  })
  if (wanted.length === 0) return
  const ids = [...new Set(wanted.map(({ id }) => id))]
  const files = new Map((await fileStore(tx).named(tenant, ids)).map((row) => [row.id, row]))
  let bytes = 0
  for (const { kind, id, index } of wanted) {
    const field = `${at}.content.${index}.source.file_id`
    const row = files.get(id)
    if (!row) throw notFound('file', id)
    if (isExpired(row, now) || row.blob_key === null)
      throw invalid(`${field}: file ${id} has expired`, 'file_expired')
    const shown = shownAs(kind, row)
    if (!shown.ok) throw invalid(`${field}: file ${id}: ${shown.message}`)
    bytes += row.size_bytes
  }
  if (bytes > together)
    throw invalid(`${at}.content: its files take more than ${together} bytes together`)
}
