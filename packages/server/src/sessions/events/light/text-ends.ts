/** The beginnings and the ends of long texts, as the database has cut them. */
import { eventLoop } from '../../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import type { EndsRow } from './store.ts'
import { selectEnds, selectEndsOfPieces } from './store.ts'

/** `opens`: a further text begins between head and tail. */
export type TextEnds = { head: string; tail: string; headBytes: number; opens: boolean }

/** Bytes of texts that one statement reads: some milliseconds of SQLite, which has the event loop meanwhile. */
const bytesAtOnce = 1024 * 1024

const none = new Uint8Array()

type LongRow = { seq: number; id: string; type: string; size: number }

/** True for an event whose long texts stand in blocks of content. */
export const isBlocks = ({ type }: Pick<LongRow, 'type'>): boolean => /message|result$/.test(type)

/** Ends of the texts of rows, by `seq`. A text that is stored in pieces is missing. */
export async function readEnds(
  db: Reads,
  ref: SessionRef,
  rows: readonly LongRow[],
): Promise<Map<number, TextEnds>> {
  const found = new Map<number, TextEnds>()
  for (const group of groupsOf(rows)) {
    await eventLoop.wait(ref.tenant)
    const seqs = group.map(({ seq }) => seq)
    const ends = await selectEnds(db, ref, seqs, group.every(isBlocks))
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
  ref: SessionRef,
  id: string,
): Promise<TextEnds | undefined> {
  await eventLoop.wait(ref.tenant)
  const rows = await selectEndsOfPieces(db, ref, id)
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
