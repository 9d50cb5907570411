/**
 * Long texts of messages. SQLite writes on the event loop. A text of many megabytes is therefore kept in pieces, a transaction
 * each, before the unit that admits its message. The rows of the message in the inbox and in the log hold no text: the message
 * goes into the log, or is cancelled, and its text is not written again.
 */
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { sql } from 'kysely'
import { runUnaudited } from '../../ground/core/audited-call.ts'
import { countCharacters } from '../../ground/core/characters.ts'
import { PlatformError, StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import { eventLoop } from '../../ground/core/event-loop.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { lockForUpdate } from '../../ground/database/lock.ts'
import { insertRows } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { fieldsText } from './fields.ts'
import type { TenantSession } from './place.ts'

/** The text of an event that is posted: its fields as JSON. */
export type LongText = { id: string; data: string; bytes: number }
/** By the events of a request as they were posted. */
export type LongTexts = ReadonlyMap<ClientEvent, LongText>

/** In characters, and so between one and three times as many bytes. */
const pieceLength = 1024 * 1024

/** A system message waits only behind a user message. Elsewhere it goes into the log at once, with its text. */
const isLong = (event: ClientEvent, behind: ClientEvent | undefined): boolean =>
  (event.type === 'user.message' ||
    (event.type === 'system.message' && behind?.type === 'user.message')) &&
  countCharacters(event) > pieceLength

/** How long a text waits for its message, whose process may have ended before the message was admitted. In milliseconds. */
const admissionMs = 3_600_000

const columnsOf = ({ tenant, sessionId }: TenantSession, id: string) => ({
  tenant_id: tenant,
  session_id: sessionId,
  event_id: id,
})

/**
 * Keeps the long texts of a request, and then calls `admit`, which admits the events in one unit. The texts of a request that
 * is refused are removed. `check` is called before anything is kept, with the characters that are to be kept. It throws for a
 * session that would not take them.
 */
export async function withLongTexts<T>(
  db: Database,
  { clock, ...place }: TenantSession & { clock: Clock },
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
      await runUnaudited(() => keep(db, place, text, clock.now()))
    }
    return await admit(texts)
  } catch (error) {
    // Where nobody knows whether the messages were admitted, and where the removal fails too, the job removes what is left.
    const isUnsure = error instanceof StorageError && error.isUnsure
    if (!isUnsure)
      await runUnaudited(() =>
        Promise.allSettled([...texts.values()].map(({ id }) => removeText(db, place, id))),
      )
    throw error
  }
}

async function keep(
  db: Database,
  place: TenantSession,
  { id, data, bytes }: LongText,
  now: number,
): Promise<void> {
  const columns = columnsOf(place, id)
  const row = { ...columns, bytes, state: 'kept' as const, created_at: iso(now) }
  await db.write((tx) => insertRows(tx, 'long_texts', [row]))
  for (const [piece, text] of piecesOf(data).entries()) {
    await eventLoop.wait(place.tenant, 'write')
    await db.write(async (tx) => {
      const kept = tx.selectFrom('long_texts').where((eb) => eb.and({ ...columns, state: 'kept' }))
      const found = await lockForUpdate(tx, kept.select('event_id')).execute()
      if (found.length === 0) throw tookTooLong()
      await insertRows(tx, 'long_text_pieces', [{ ...columns, piece, text }])
    })
  }
}

/** A machine that slept for hours, or clocks that differ. */
const tookTooLong = () =>
  new PlatformError('unavailable', 'the message took too long to be kept: send it again')

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

/** Called within the unit that admits the messages: none of them is admitted without its text. */
export async function ownTexts(
  tx: Queries,
  place: TenantSession,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const owned = await setState(tx, place, ids, { from: 'kept', to: 'owned' })
  if (owned < ids.length) throw tookTooLong()
}

/** Called within the unit that cancels the messages: the job removes their texts, in parts. */
export async function disownTexts(
  tx: Queries,
  place: TenantSession,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await setState(tx, place, ids, { from: 'owned', to: 'left' })
}

type TextState = Tables['long_texts']['state']

/** How many texts were in the first state. */
async function setState(
  tx: Queries,
  { tenant, sessionId }: TenantSession,
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

/** The bytes of a text that is kept in pieces, for a row of `events` that has none of its own. */
export const longBytes = sql<number>`coalesce((select long_texts.bytes from long_texts
  where long_texts.session_id = events.session_id and long_texts.event_id = events.id), 0)`

/**
 * Reads a piece at a time, each in its turn of the event loop. Undefined for a text that is not there, or not all of it: its
 * session was deleted meanwhile.
 */
export async function readText(
  db: Reads,
  place: TenantSession,
  { id, bytes }: Pick<LongText, 'id' | 'bytes'>,
): Promise<string | undefined> {
  const texts: string[] = []
  for (;;) {
    await eventLoop.wait(place.tenant)
    const row = await db
      .selectFrom('long_text_pieces')
      .where((eb) => eb.and(columnsOf(place, id)))
      .select('text')
      .where('piece', '=', texts.length)
      .executeTakeFirst()
    if (!row) break
    texts.push(row.text)
  }
  const text = texts.join('')
  return Buffer.byteLength(text) === bytes ? text : undefined
}

/** Removes texts that no message owns. True: those were all. */
export async function removeLeftTexts(db: Database, now: number, limit: number): Promise<boolean> {
  const left = await db.read
    .selectFrom('long_texts')
    .select(['tenant_id as tenant', 'session_id as sessionId', 'event_id as id'])
    .where('state', '<>', sql.lit('owned'))
    .where((eb) => eb.or([eb('state', '=', 'left'), eb('created_at', '<', iso(now - admissionMs))]))
    .orderBy('created_at')
    .limit(limit)
    .execute()
  for (const { id, ...place } of left) await removeText(db, place, id)
  return left.length < limit
}

/** Of a log that nobody reads any more. */
export async function removeTextsOf(db: Database, place: TenantSession): Promise<void> {
  const texts = await db.read
    .selectFrom('long_texts')
    .select('event_id')
    .where('tenant_id', '=', place.tenant)
    .where('session_id', '=', place.sessionId)
    .execute()
  const ids = texts.map(({ event_id }) => event_id)
  await db.write((tx) => disownTexts(tx, place, ids))
  for (const id of ids) await removeText(db, place, id)
}

/** Nothing is done for a text that a message owns. A removal that is interrupted is found again by the state of its text. */
async function removeText(db: Database, place: TenantSession, id: string): Promise<void> {
  const isLeft = await db.write(async (tx) => {
    await setState(tx, place, [id], { from: 'kept', to: 'left' })
    const left = tx
      .selectFrom('long_texts')
      .where((eb) => eb.and(columnsOf(place, id)))
      .where('state', '=', 'left')
    return (await left.select('event_id').execute()).length > 0
  })
  if (!isLeft) return
  const pieces = await db.read
    .selectFrom('long_text_pieces')
    .where((eb) => eb.and(columnsOf(place, id)))
    .select('piece')
    .orderBy('piece', 'desc')
    .execute()
  for (const { piece } of pieces)
    await db.write((tx) =>
      tx
        .deleteFrom('long_text_pieces')
        .where((eb) => eb.and(columnsOf(place, id)))
        .where('piece', '=', piece)
        .execute(),
    )
  await db.write((tx) =>
    tx
      .deleteFrom('long_texts')
      .where((eb) => eb.and(columnsOf(place, id)))
      .execute(),
  )
}
