/**
 * Long texts of messages. SQLite writes on the event loop. A text of many megabytes is therefore stored in pieces, each
 * in a transaction of its own, before the unit that admits its message. The message's rows in the inbox and in the log
 * hold no text, so that the text is not written again when the message is promoted or cancelled.
 */
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { sql } from 'kysely'
import { runUnaudited } from '../../ground/core/security/audited-call.ts'
import { countCharacters } from '../../ground/core/text/characters.ts'
import { PlatformError, StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { eventLoop } from '../../ground/core/fairness/event-loop.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { insertRows } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { fieldsText } from './fields.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** The text of a posted event: its fields as JSON. */
export type LongText = { id: string; data: string; bytes: number }
/** Long texts by the posted events of a request. */
export type LongTexts = ReadonlyMap<ClientEvent, LongText>

/** In characters; a character takes one to three bytes in UTF-8. */
const pieceLength = 1024 * 1024

/** A system message waits only behind a user message. Elsewhere it goes into the log at once, with its text. */
const isLong = (event: ClientEvent, behind: ClientEvent | undefined): boolean =>
  (event.type === 'user.message' ||
    (event.type === 'system.message' && behind?.type === 'user.message')) &&
  countCharacters(event) > pieceLength

/** A text without an admitted message is removed after this time: its process may have ended before the admission. */
const admissionMs = 3_600_000

const columnsOf = ({ tenant, session: sessionId }: SessionRef, id: string) => ({
  tenant_id: tenant,
  session_id: sessionId,
  event_id: id,
})

/**
 * Stores the long texts of a request, then calls `admit`, which admits the events in one unit. Removes the texts when
 * the request is refused. Calls `check` first, with the number of characters to store; `check` throws when the session
 * would not take them.
 */
export async function withLongTexts<T>(
  db: Database,
  { clock, ...ref }: SessionRef & { clock: Clock },
  events: readonly ClientEvent[],
  check: (characters: number) => Promise<void>,
  admit: (texts: LongTexts) => Promise<T>,
): Promise<T> {
  const texts = new Map<ClientEvent, LongText>()
  const long = events.filter((event, index) => isLong(event, events[index - 1]))
  if (long.length === 0) return admit(texts)
  await check(countCharacters(long))
  try {
    for (const event of long) {
      const id = newId('event')
      const data = fieldsText(event)
      const text = { id, data, bytes: Buffer.byteLength(data) }
      texts.set(event, text)
      await runUnaudited(() => keepText(db, ref, text, clock.now()))
    }
    return await admit(texts)
  } catch (error) {
    // If the commit may have happened, or if the removal fails too, the job removes texts without a message.
    const isUnsure = error instanceof StorageError && error.isUnsure
    if (!isUnsure)
      await runUnaudited(() =>
        Promise.allSettled([...texts.values()].map(({ id }) => removeText(db, ref, id))),
      )
    throw error
  }
}

async function keepText(
  db: Database,
  ref: SessionRef,
  { id, data, bytes }: LongText,
  now: number,
): Promise<void> {
  const columns = columnsOf(ref, id)
  const row = { ...columns, bytes, state: 'kept' as const, created_at: iso(now) }
  await db.write((tx) => insertRows(tx, 'long_texts', [row]))
  for (const [piece, text] of piecesOf(data).entries()) {
    await eventLoop.wait(ref.tenant, 'write')
    await db.write(async (tx) => {
      const kept = tx.selectFrom('long_texts').where((eb) => eb.and({ ...columns, state: 'kept' }))
      const found = await forUpdate(tx, kept.select('event_id')).execute()
      if (found.length === 0) throw tookTooLong()
      await insertRows(tx, 'long_text_pieces', [{ ...columns, piece, text }])
    })
  }
}

/** Happens on a machine that slept for hours, or when clocks differ. */
const tookTooLong = () =>
  new PlatformError('unavailable', 'the message took too long to be kept: send it again')

/** Splits a text into pieces. No piece ends within a surrogate pair. */
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

/** Call within the unit that admits the messages. Throws when a text was removed meanwhile. */
export async function ownTexts(
  tx: Queries,
  ref: SessionRef,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const owned = await setState(tx, ref, ids, { from: 'kept', to: 'owned' })
  if (owned < ids.length) throw tookTooLong()
}

/** Call within the unit that cancels the messages. The job removes their texts later, in parts. */
export async function disownTexts(
  tx: Queries,
  ref: SessionRef,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await setState(tx, ref, ids, { from: 'owned', to: 'left' })
}

type TextState = Tables['long_texts']['state']

/** Returns the number of texts that were in the state `from`. */
async function setState(
  tx: Queries,
  { tenant, session: sessionId }: SessionRef,
  ids: readonly string[],
  { from, to }: { from: TextState; to: TextState },
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('long_texts')
    .set({ state: to })
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('event_id', 'in', ids)
    .where('state', '=', from)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Bytes of a long text, for a row of `events` with an empty text. */
export const longBytes = sql<number>`coalesce((select long_texts.bytes from long_texts
  where long_texts.session_id = events.session_id and long_texts.event_id = events.id), 0)`

/**
 * Reads a long text piece by piece, each in a turn of the event loop. Undefined when the text is missing or incomplete,
 * because its session was deleted meanwhile.
 */
export async function readLongText(
  db: Reads,
  ref: SessionRef,
  { id, bytes }: Pick<LongText, 'id' | 'bytes'>,
): Promise<string | undefined> {
  const texts: string[] = []
  for (;;) {
    await eventLoop.wait(ref.tenant)
    const row = await db
      .selectFrom('long_text_pieces')
      .where((eb) => eb.and(columnsOf(ref, id)))
      .select('text')
      .where('piece', '=', texts.length)
      .executeTakeFirst()
    if (!row) break
    texts.push(row.text)
  }
  const text = texts.join('')
  return Buffer.byteLength(text) === bytes ? text : undefined
}

/** Removes at most `limit` texts that no message owns. Returns true when none are left. */
export async function removeLeftTexts(db: Database, now: number, limit: number): Promise<boolean> {
  const left = await db.read
    .selectFrom('long_texts')
    .select(['tenant_id as tenant', 'session_id as session', 'event_id as id'])
    .where('state', '<>', sql.lit('owned'))
    .where((eb) => eb.or([eb('state', '=', 'left'), eb('created_at', '<', iso(now - admissionMs))]))
    .orderBy('created_at')
    .limit(limit)
    .execute()
  for (const { id, ...ref } of left) await removeText(db, ref, id)
  return left.length < limit
}

/** Removes all texts of a log that nobody reads any more. */
export async function removeSessionTexts(db: Database, ref: SessionRef): Promise<void> {
  const texts = await db.read
    .selectFrom('long_texts')
    .select('event_id')
    .where('tenant_id', '=', ref.tenant)
    .where('session_id', '=', ref.session)
    .execute()
  const ids = texts.map(({ event_id }) => event_id)
  await db.write((tx) => disownTexts(tx, ref, ids))
  for (const id of ids) await removeText(db, ref, id)
}

/**
 * Does nothing for a text that a message owns. After an interruption the state of the text shows that its removal must
 * continue.
 */
async function removeText(db: Database, ref: SessionRef, id: string): Promise<void> {
  const isLeft = await db.write(async (tx) => {
    await setState(tx, ref, [id], { from: 'kept', to: 'left' })
    const left = tx
      .selectFrom('long_texts')
      .where((eb) => eb.and(columnsOf(ref, id)))
      .where('state', '=', 'left')
    return (await left.select('event_id').execute()).length > 0
  })
  if (!isLeft) return
  const pieces = await db.read
    .selectFrom('long_text_pieces')
    .where((eb) => eb.and(columnsOf(ref, id)))
    .select('piece')
    .orderBy('piece', 'desc')
    .execute()
  for (const { piece } of pieces)
    await db.write((tx) =>
      tx
        .deleteFrom('long_text_pieces')
        .where((eb) => eb.and(columnsOf(ref, id)))
        .where('piece', '=', piece)
        .execute(),
    )
  await db.write((tx) =>
    tx
      .deleteFrom('long_texts')
      .where((eb) => eb.and(columnsOf(ref, id)))
      .execute(),
  )
}
