/**
 * Long texts of messages. SQLite writes on the event loop. A text of many megabytes is therefore kept in pieces, a transaction
 * each, before the unit that admits its message. The rows of the message in the inbox and in the log hold no text: the message
 * goes into the log, or is cancelled, and its text is not written again.
 */
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { sql } from 'kysely'
import { charactersIn } from '../../ground/core/characters.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import { eventLoop } from '../../ground/core/loop.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { insertRows } from '../../ground/database/statement.ts'
import { fieldsText } from './fields.ts'

/** The text of an event that is posted: its fields as JSON. */
export type LongText = { id: string; data: string; bytes: number }
/** By the events of a request as they were posted. */
export type LongTexts = ReadonlyMap<ClientEvent, LongText>

/** In characters, and so between one and three times as many bytes. */
const pieceLength = 1024 * 1024

const isLong = (event: ClientEvent): boolean =>
  (event.type === 'user.message' || event.type === 'system.message') &&
  charactersIn(event) > pieceLength

/** How long a text is kept that no message owns: its process may have ended before the messages were admitted. */
const leftMs = 3_600_000

/**
 * Keeps the long texts of a request, and then calls `admit`, which admits the events in one unit. The texts of a request that
 * is refused are removed. `checkPlace` throws for a session that the caller does not have, before anything is kept for it.
 */
export async function withLongTexts<T>(
  db: Database,
  { tenant, session, clock }: { tenant: string; session: string; clock: Clock },
  events: readonly ClientEvent[],
  checkPlace: (read: Reads) => Promise<unknown>,
  admit: (texts: LongTexts) => Promise<T>,
): Promise<T> {
  const texts = new Map<ClientEvent, LongText>()
  const long = events.filter(isLong)
  if (long.length === 0) return admit(texts)
  await checkPlace(db.read)
  try {
    for (const event of long) {
      const id = newId('event')
      const data = fieldsText(event)
      const text = { id, data, bytes: Buffer.byteLength(data) }
      texts.set(event, text)
      await keep(db, tenant, session, text, clock.now())
    }
    return await admit(texts)
  } catch (error) {
    // After a failure of the world nobody knows whether the messages are there: what they do not own is left to the job.
    if (error instanceof PlatformError)
      for (const { id } of texts.values()) await removeText(db, { session, id })
    throw error
  }
}

async function keep(
  db: Database,
  tenant: string,
  session: string,
  { id, data, bytes }: LongText,
  now: number,
): Promise<void> {
  const place = { tenant_id: tenant, session_id: session, event_id: id }
  const row = { ...place, bytes, is_owned: 0, created_at: iso(now) }
  await db.write((tx) => insertRows(tx, 'long_texts', [row]))
  for (const [piece, text] of piecesOf(data).entries()) {
    await eventLoop.wait(tenant, 'write')
    await db.write((tx) => insertRows(tx, 'long_text_pieces', [{ ...place, piece, text }]))
  }
}

/** No piece ends within a character. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const end = at + pieceLength
    const last = text.charCodeAt(end - 1)
    const isWhole = last < 0xd800 || last > 0xdbff
    pieces.push(text.slice(at, isWhole ? end : end - 1))
    at = isWhole ? end : end - 1
  }
  return pieces
}

/** Called within the unit that admits the messages. */
export const own = (tx: Queries, session: string, ids: readonly string[]) =>
  setOwned(tx, session, ids, 1)

/** Called within the unit that cancels the messages: the job removes their texts, in parts. */
export const disown = (tx: Queries, session: string, ids: readonly string[]) =>
  setOwned(tx, session, ids, 0)

async function setOwned(tx: Queries, session: string, ids: readonly string[], is_owned: 0 | 1) {
  if (ids.length === 0) return
  await tx
    .updateTable('long_texts')
    .set({ is_owned })
    .where('session_id', '=', session)
    .where('event_id', 'in', ids)
    .execute()
}

/** The bytes of a text that is kept in pieces, for a row of `events` that has none of its own. */
export const longBytes = sql<number>`coalesce((select long_texts.bytes from long_texts
  where long_texts.session_id = events.session_id and long_texts.event_id = events.id), 0)`

/** Reads a piece at a time, each in its turn of the event loop. Undefined for the text of a session that was deleted. */
export async function readText(
  db: Reads,
  tenant: string,
  session: string,
  id: string,
): Promise<string | undefined> {
  const texts: string[] = []
  for (;;) {
    await eventLoop.wait(tenant)
    const row = await db
      .selectFrom('long_text_pieces')
      .select('text')
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', session)
      .where('event_id', '=', id)
      .where('piece', '=', texts.length)
      .executeTakeFirst()
    if (!row) return texts.length === 0 ? undefined : texts.join('')
    texts.push(row.text)
  }
}

/** Removes texts that no message has. True: those were all. */
export async function removeLeftTexts(db: Database, now: number, limit: number): Promise<boolean> {
  const left = await db.read
    .selectFrom('long_texts')
    .select(['session_id as session', 'event_id as id'])
    .where('is_owned', '=', sql.lit(0))
    .where('created_at', '<', iso(now - leftMs))
    .orderBy('created_at')
    .limit(limit)
    .execute()
  for (const text of left) await removeText(db, text)
  return left.length < limit
}

/** Of a log that nobody reads any more. */
export async function removeTextsOf(db: Database, tenant: string, session: string): Promise<void> {
  const texts = await db.read
    .selectFrom('long_texts')
    .select('event_id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .execute()
  for (const { event_id } of texts) await removeText(db, { session, id: event_id })
}

/** The last piece first, in a transaction each: what was begun is found again by its row in `long_texts`. */
async function removeText(db: Database, { session, id }: { session: string; id: string }) {
  const isText = { session_id: session, event_id: id }
  const pieces = await db.read
    .selectFrom('long_text_pieces')
    .select('piece')
    .where((eb) => eb.and(isText))
    .orderBy('piece', 'desc')
    .execute()
  for (const { piece } of pieces)
    await db.write((tx) =>
      tx
        .deleteFrom('long_text_pieces')
        .where((eb) => eb.and({ ...isText, piece }))
        .execute(),
    )
  await db.write((tx) =>
    tx
      .deleteFrom('long_texts')
      .where((eb) => eb.and(isText))
      .execute(),
  )
}
