/** SQL of light pages. The database cuts long texts: the texts themselves do not come into the process. */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { eventLoop } from '../../../ground/core/fairness/event-loop.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { dialectOf } from '../../../ground/database/dialect.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

/**
 * The first and the last bytes of a text; null on SQLite where it is empty. `opens`: a further text begins between
 * them.
 */
export type EndsRow = {
  key: number
  head: Uint8Array | null
  tail: Uint8Array | null
  opens: boolean | number | null
}

/** Bytes at both ends. A result is shown shorter than what people and the model say. */
const resultHead = 1_000
const messageHead = 3_000
const tailLength = 480

const endsOf = (
  db: Reads,
  texts: RawBuilder<unknown>,
  { from, isCall }: { from: RawBuilder<number>; isCall: boolean },
) => {
  const isPostgres = dialectOf(db as Queries) === 'postgres'
  const holds = (text: string) =>
    isPostgres
      ? sql`substr(bytes, ${from} + 1) like ${Buffer.from(`%${text}%`)}::bytea`
      : sql`substr(bytes, ${from} + 1) like ${`%${text}%`}`
  // A text begins behind one of these, which no text holds: within texts, JSON escapes the quote. A block of content
  // begins with the second.
  const opening = (isCall ? [',"', '{"', '["'] : ['{"']).map(holds)
  return selectRaw(
    db,
    sql<EndsRow>`select key, substr(bytes, 1, head) as head,
    substr(bytes, octet_length(bytes) - ${sql.lit(tailLength - 1)}) as tail,
    (${sql.join(opening, sql` or `)}) as opens from (${texts}) as texts`,
  )
}

const bytesOf = (db: Reads, column: string): RawBuilder<Uint8Array> =>
  dialectOf(db as Queries) === 'postgres'
    ? sql`convert_to(${sql.ref(column)}, 'UTF8')`
    : sql`cast(${sql.ref(column)} as blob)`

/** Keeps Postgres from computing the bytes anew for each part that is cut out of them. */
const once = (db: Reads) => sql.raw(dialectOf(db as Queries) === 'postgres' ? 'offset 0' : '')

/**
 * Rows with these numbers. SQLite searches for a row by reading the long texts beside it, so that it rather walks from
 * the first to the last, if few others lie between them.
 */
function isOneOf(seqs: readonly number[]): RawBuilder<boolean> {
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)]
  const among = sql<boolean>`in (${sql.join(seqs)})`
  return last - first > 4 * seqs.length
    ? sql`seq ${among}`
    : sql`seq >= ${first} and seq <= ${last} and seq + 0 ${among}`
}

/** Ends of the texts of events, by their `seq`. `isBlocks`: each is a list of blocks of content. */
export const selectEnds = (
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  seqs: readonly number[],
  isBlocks: boolean,
): Promise<EndsRow[]> => {
  const head = sql`case when type like '%result' then ${sql.lit(resultHead)} else ${sql.lit(messageHead)} end`
  const texts = sql`select seq as key, ${head} as head, ${bytesOf(db, 'data')} as bytes from events
    where tenant_id = ${tenant} and session_id = ${sessionId} and ${isOneOf(seqs)} ${once(db)}`
  return endsOf(db, texts, { from: sql`head`, isCall: !isBlocks })
}

/** Ends of the pieces of a message, by their index. */
export const selectEndsOfPieces = (
  db: Reads,
  { tenant, session: sessionId }: SessionRef,
  id: string,
): Promise<EndsRow[]> => {
  const texts = sql`select piece as key, ${sql.lit(messageHead)} as head, ${bytesOf(db, 'text')} as bytes
    from long_text_pieces where tenant_id = ${tenant} and session_id = ${sessionId} and event_id = ${id}
    ${once(db)}`
  return endsOf(db, texts, {
    from: sql<number>`case when key = 0 then head else 0 end`,
    isCall: false,
  })
}

/** An event with the beginning of its text, which holds the name of a called tool. */
export type BegunRow = { seq: number; id: string; type: string; created_at: string; head: string }

const beginning = sql<string>`substr(data, 1, 400)`.as('head')

const begun = (db: Reads, { tenant, session: sessionId }: SessionRef) =>
  db
    .selectFrom('events')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .select(['seq', 'id', 'type', 'created_at', beginning])

/** Events whose rows one statement finds: SQLite reads the long texts beside them too. */
const rowsAtOnce = 100

/** Calls by the ids of their events. In two statements: SQLite would read a join from its wrong end. */
export async function selectCalls(
  db: Reads,
  ref: SessionRef,
  ids: readonly string[],
): Promise<BegunRow[]> {
  const found: BegunRow[] = []
  for (let at = 0; at < ids.length; at += rowsAtOnce) {
    if (at > 0) await eventLoop.wait(ref.tenant)
    const calls = await db
      .selectFrom('calls')
      .select('seq')
      .where('tenant_id', '=', ref.tenant)
      .where('session_id', '=', ref.session)
      .where('event_id', 'in', ids.slice(at, at + rowsAtOnce))
      .execute()
    const seqs = calls.map(({ seq }) => seq)
    if (seqs.length > 0) found.push(...(await begun(db, ref).where(isOneOf(seqs)).execute()))
  }
  return found
}

/** Events of these types by their ids, read backwards from a place, so that the search stops at the oldest of them. */
export const selectBefore = (
  db: Reads,
  ref: SessionRef,
  { before, types, ids }: { before: number; types: readonly string[]; ids: readonly string[] },
): Promise<BegunRow[]> =>
  begun(db, ref)
    .where('seq', '<', before)
    .where('type', 'in', types)
    .where('id', 'in', ids)
    .orderBy('seq', 'desc')
    .limit(ids.length)
    .execute()

export const selectConfirmations = (
  db: Reads,
  ref: SessionRef,
  { after, before }: { after: number; before: number },
): Promise<BegunRow[]> =>
  begun(db, ref)
    .where('seq', '>', after)
    .where('seq', '<', before)
    .where('type', '=', 'user.tool_confirmation')
    .execute()
