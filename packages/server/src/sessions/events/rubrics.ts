/** Replaces a rubric that names a file by its text, so that the outcome outlives the file. */
import { isUtf8 } from 'node:buffer'
import { buffer } from 'node:stream/consumers'
import type { DefineOutcome } from '@steward/protocol/outcomes.ts'
import { mostRubric } from '@steward/protocol/outcomes.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { shownAs } from '../../resources/files/shown.ts'
import { fileStore, isExpired } from '../../resources/files/store.ts'

/** A character has four bytes at most. */
const mostBytes = 4 * mostRubric

type RubricSource = { tenant: string; read: Reads; blobs: Pick<Blobs, 'get'>; now: number }

/** `at` names the list of events in errors. The bytes are read before any transaction. */
export const withRubrics = <E extends { type: string }>(
  given: RubricSource,
  events: readonly (E | DefineOutcome)[],
  at: string,
): Promise<(E | DefineOutcome)[]> =>
  Promise.all(
    events.map(async (event, index) => {
      if (!isOutcome(event) || event.rubric.type === 'text') return event
      const content = await textOf(given, event.rubric.file_id, `${at}.${index}.rubric.file_id`)
      return { ...event, rubric: { type: 'text' as const, content } }
    }),
  )

const isOutcome = <E extends { type: string }>(event: E | DefineOutcome): event is DefineOutcome =>
  event.type === 'user.define_outcome'

async function textOf({ tenant, read, blobs, now }: RubricSource, id: string, at: string) {
  const [row] = await fileStore(read).named(tenant, [id])
  if (!row) throw notFound('file', id)
  const expired = () => invalid(`${at}: file ${id} has expired`, 'file_expired')
  if (isExpired(row, now) || row.blob_key === null) throw expired()
  const shown = shownAs('document', row)
  if (!shown.ok) throw invalid(`${at}: file ${id}: ${shown.message}`)
  if (shown.media_type !== 'text/plain') throw invalid(`${at}: file ${id} is no text`)
  const tooLong = () => invalid(`${at}: a rubric has 1 to ${mostRubric} characters`)
  if (row.size_bytes > mostBytes) throw tooLong()
  const found = await blobs.get(row.blob_key)
  if (!found) throw expired()
  const bytes = await buffer(found.body)
  if (!isUtf8(bytes)) throw invalid(`${at}: file ${id} is no text in UTF-8`)
  const text = bytes.toString()
  if (text.length === 0 || text.length > mostRubric) throw tooLong()
  return text
}
