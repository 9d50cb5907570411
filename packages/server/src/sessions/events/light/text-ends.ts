/**
 * The beginnings and the ends of long texts, cut by the database: the texts themselves do not come into the process.
 * Lengths count bytes, which both databases find without reading all characters.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { eventLoop } from '../../../ground/core/event-loop.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { dialectOf } from '../../../ground/database/dialect.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import type { TenantSession } from '../../log/place.ts'

/** `opens`: a further text begins between head and tail. */
export type TextEnds = { head: string; tail: string; headBytes: number; opens: boolean }
/** A text is null on SQLite where it is empty. */
type EndsRow = {
  key: number
  head: Uint8Array | null
  tail: Uint8Array | null
  opens: boolean | number | null
}

const none = new Uint8Array()

/** Bytes at both ends. A result is shown shorter than what people and the model say. */
const resultHead = 1_000
const messageHead = 3_000
const tailLength = 480

/** Texts that one statement reads. SQLite reads a megabyte in less than a millisecond, on the event loop. */
const bytesAtOnce = 4 * 1024 * 1024

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

type LongRow = { seq: number; id: string; type: string; size: number }

const isBlocks = ({ type }: LongRow): boolean => /message|result$/.test(type)

/** Ends of the texts of rows, by `seq`. A text that is stored in pieces is missing. */
export async function readEnds(
  db: Reads,
  { tenant, sessionId }: TenantSession,
  rows: readonly LongRow[],
): Promise<Map<number, TextEnds>> {
  const found = new Map<number, TextEnds>()
  for (const group of groupsOf(rows)) {
    await eventLoop.wait(tenant)
    const seqs = group.map(({ seq }) => seq)
    const head = sql`case when type like '%result' then ${sql.lit(resultHead)} else ${sql.lit(messageHead)} end`
    const texts = sql`select seq as key, ${head} as head, ${bytesOf(db, 'data')} as bytes from events
      where tenant_id = ${tenant} and session_id = ${sessionId} and seq in (${sql.join(seqs)}) ${once(db)}`
    const isCall = group.some((row) => !isBlocks(row))
    const ends = await endsOf(db, texts, { from: sql`head`, isCall })
    for (const { key, ...each } of ends)
      if (each.head?.length) found.set(key, textEnds(each, Boolean(each.opens)))
  }
  return found
}

/** Groups of rows that one statement reads, of blocks or of anything else. */
function groupsOf(rows: readonly LongRow[]): LongRow[][] {
  const groups: LongRow[][] = []
  for (const some of [rows.filter(isBlocks), rows.filter((row) => !isBlocks(row))]) {
    let bytes = bytesAtOnce
    for (const row of some) {
      if (bytes >= bytesAtOnce) {
        groups.push([])
        bytes = 0
      }
      groups.at(-1)?.push(row)
      bytes += row.size
    }
  }
  return groups
}

/** Ends of a text that is stored in pieces. Undefined when it is not there any more. */
export async function readEndsOfPieces(
  db: Reads,
  { tenant, sessionId }: TenantSession,
  id: string,
): Promise<TextEnds | undefined> {
  await eventLoop.wait(tenant)
  const texts = sql`select piece as key, ${sql.lit(messageHead)} as head, ${bytesOf(db, 'text')} as bytes
    from long_text_pieces where tenant_id = ${tenant} and session_id = ${sessionId} and event_id = ${id}
    ${once(db)}`
  const from = sql<number>`case when key = 0 then head else 0 end`
  const rows = await endsOf(db, texts, { from, isCall: false })
  const pieces = rows.toSorted((one, other) => one.key - other.key)
  const [first, last] = [pieces[0], pieces.at(-1)]
  if (!first || !last) return undefined
  const isSplit = ({ head }: EndsRow, index: number) =>
    head?.[0] === 0x22 && pieces[index - 1]?.tail?.at(-1) === 0x7b
  const opens = pieces.some((piece, index) => Boolean(piece.opens) || isSplit(piece, index))
  return textEnds({ head: first.head, tail: last.tail }, opens)
}

function textEnds({ head, tail }: Pick<EndsRow, 'head' | 'tail'>, opens: boolean): TextEnds {
  // Leaves out a character and an escape that are cut in two.
  const begins = withoutSplitEscape(new TextDecoder().decode(head ?? none, { stream: true }))
  const first = (tail ?? none).findIndex((byte) => (byte & 0xc0) !== 0x80)
  const ends = behindEscapes(new TextDecoder().decode((tail ?? none).subarray(Math.max(first, 0))))
  return { head: begins, tail: ends, headBytes: Buffer.byteLength(begins), opens }
}

function withoutSplitEscape(text: string): string {
  const [all = '', slashes = ''] = /(\\+)(?:u[\da-f]{0,3})?$/i.exec(text) ?? []
  return slashes.length % 2 === 0
    ? text
    : text.slice(0, text.length - all.length + slashes.length - 1)
}

/**
 * The text from a place on where no escape can be under way: before a backslash behind anything else, behind a
 * character that no escape has, or behind six without a backslash.
 */
function behindEscapes(text: string): string {
  const [clean = ''] = /^.*?(?:[^\\](?=\\)|[^\\"/bfnrtu\da-f]|[^\\]{6})/isu.exec(text) ?? []
  return text.slice(clean.length)
}
