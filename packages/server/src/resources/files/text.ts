/** The text of a file that a caller names in place of the text itself. */
import { isUtf8 } from 'node:buffer'
import { buffer } from 'node:stream/consumers'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { shownAs } from './shown-media.ts'
import { fileStore, isExpired } from './store.ts'

export type TextFileSource = { tenant: string; read: Reads; blobs: Blobs; now: number }

/** A character of UTF-8 has four bytes at most. */
const bytesPerCharacter = 4

/**
 * `at` names the field in errors. `what` names the text, with its article. Throws for an empty text and for more than
 * `most` characters.
 */
export async function textOfFile(
  { tenant, read, blobs, now }: TextFileSource,
  id: string,
  { at, what, most }: { at: string; what: string; most: number },
): Promise<string> {
  const [row] = await fileStore(read).named(tenant, [id])
  if (!row) throw notFound('file', id)
  const expired = () => invalid(`${at}: file ${id} has expired`, 'file_expired')
  if (isExpired(row, now) || row.blob_key === null) throw expired()
  const shown = shownAs('document', row)
  if (!shown.ok) throw invalid(`${at}: file ${id}: ${shown.message}`)
  if (shown.media_type !== 'text/plain') throw invalid(`${at}: file ${id} is no text`)
  const tooLong = () => invalid(`${at}: ${what} has 1 to ${most} characters`)
  if (row.size_bytes > bytesPerCharacter * most) throw tooLong()
  const found = await blobs.get(row.blob_key)
  if (!found) throw expired()
  const bytes = await buffer(found.body)
  if (!isUtf8(bytes)) throw invalid(`${at}: file ${id} is no text in UTF-8`)
  const text = bytes.toString()
  if (text.length === 0 || text.length > most) throw tooLong()
  return text
}
