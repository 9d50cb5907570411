/** Reads turns from a log of any length: backwards from its end, in pieces. */
import { noTokens, turnFold, turnTypesOf } from './turn.ts'
import type { TokenCounts, LogOwner, LoggedTurn } from './turn.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { readEvents } from '../../../sessions/log/log.ts'
import type { EventRow } from '../../../sessions/log/log.ts'

export type SessionLog = LogOwner & { read: Reads; tenant: string }

/** The rows of the first read, enough for a few turns. Later reads are larger. */
const piece = 100
const largestPiece = 1_000

/**
 * The events that bound turns before `before`, in order. Reading goes back until `isEnough` is true. `first`: rows of
 * the first read. `isWhole`: the rows reach back to the beginning of the log.
 */
async function boundaries(
  { read, tenant, session, thread }: SessionLog,
  before: number | undefined,
  isEnough: (rows: readonly EventRow[]) => boolean,
  first = piece,
): Promise<{ rows: EventRow[]; isWhole: boolean }> {
  let rows: EventRow[] = []
  let limit = Math.min(first, largestPiece)
  for (let end = before; ;) {
    const types = turnTypesOf(thread)
    const range = { before: end, types, order: 'desc', limit, thread } as const
    const found = await readEvents(read, tenant, session, range)
    rows = [...found.toReversed(), ...rows]
    if (found.length < limit) return { rows, isWhole: true }
    if (isEnough(rows)) return { rows, isWhole: false }
    end = found.at(-1)?.seq
    limit = Math.min(limit * 2, largestPiece)
  }
}

export const isEnd = ({ type, data }: Pick<EventRow, 'type' | 'data'>): boolean =>
  (type === 'session.status_idle' || type === 'session.thread_status_idle') &&
  !data.includes('"type":"requires_action"')

/** The turns among these events. A first turn that begins before the events is left out. */
function turnsIn({ thread }: SessionLog, rows: readonly EventRow[], isWhole: boolean) {
  const from = isWhole ? 0 : rows.findIndex(isEnd) + 1
  const fold = turnFold(thread, isWhole ? { usage: noTokens } : {})
  // Only counts the tokens before the first turn.
  for (const row of rows.slice(0, from)) if (row.type === 'session.usage') fold.take(row)
  const turns: LoggedTurn[] = []
  for (const row of rows.slice(from))
    if (fold.take(row).includes('created')) {
      const turn = fold.turn()
      if (turn) turns.push(turn)
    }
  return { turns, usage: fold.usage(), open: openOf(fold.turn()), fold }
}

const openOf = (turn: LoggedTurn | undefined) => (turn && turn.last === null ? turn : undefined)

/** The turns before `before`, newest last: at least `count`, as far as the log has them. */
export async function turnsBefore(
  log: SessionLog,
  before: number | undefined,
  count: number,
): Promise<{ turns: LoggedTurn[]; isWhole: boolean }> {
  // Asks for one more turn, because events of the first turn may be missing.
  const isEnough = (rows: readonly EventRow[]) => rows.filter(isEnd).length > count + 1
  const { rows, isWhole } = await boundaries(log, before, isEnough)
  return { turns: turnsIn(log, rows, isWhole).turns, isWhole }
}

/** The turns that have events from `first` to `last`. */
export async function turnsAround(
  log: SessionLog,
  first: number,
  last: number,
): Promise<LoggedTurn[]> {
  const isEnough = (rows: readonly EventRow[]) =>
    rows.filter((row) => isEnd(row) && row.seq < first).length > 1
  const { rows, isWhole } = await boundaries(log, last + 1, isEnough, last - first + piece)
  const { turns, fold } = turnsIn(log, rows, isWhole)
  await finish(log, fold, last)
  return turns
}

/** Reads on behind `last` until the open turn ends, or the log ends. */
async function finish(
  { read, tenant, session, thread }: SessionLog,
  fold: ReturnType<typeof turnFold>,
  last: number,
): Promise<void> {
  for (let after = last; openOf(fold.turn());) {
    const range = { after, types: turnTypesOf(thread), limit: piece, thread }
    const found = await readEvents(read, tenant, session, range)
    for (const row of found) {
      fold.take(row)
      if (!openOf(fold.turn())) return
    }
    if (found.length < piece) return
    after = found.at(-1)?.seq ?? after
  }
}

/** The turn that an event belongs to; undefined for an event between turns. */
export const turnAt = <Turn extends Pick<LoggedTurn, 'first' | 'last'>>(
  turns: readonly Turn[],
  seq: number,
): Turn | undefined =>
  turns.findLast(({ first, last }) => first <= seq && (last === null || seq <= last))

/** The turn of an event, in the turn's state at that event; undefined for an event between turns. */
export async function turnBehind(log: SessionLog, seq: number): Promise<LoggedTurn | undefined> {
  const { rows, isWhole } = await boundaries(log, seq + 1, (all) => all.filter(isEnd).length > 1)
  return turnAt(turnsIn(log, rows, isWhole).turns, seq)
}

/** The state of the log behind the event at `seq`: the open turn, and the tokens so far. */
export async function standingAt(
  log: SessionLog,
  seq: number,
): Promise<{ open: LoggedTurn | undefined; usage: TokenCounts | undefined }> {
  const { rows, isWhole } = await boundaries(log, seq + 1, (all) => all.some(isEnd))
  return turnsIn(log, rows, isWhole)
}

/** The turns behind `from`, or from the beginning, oldest first: at least `count`, as far as the log has them. */
export async function turnsBehind(
  { read, tenant, session, thread }: SessionLog,
  from: LoggedTurn | undefined,
  count: number,
): Promise<LoggedTurn[]> {
  const fold = turnFold(thread, { usage: from ? from.after : noTokens })
  const turns: LoggedTurn[] = []
  for (let after = from?.last ?? 0; ;) {
    const range = { after, types: turnTypesOf(thread), limit: piece, thread }
    const found = await readEvents(read, tenant, session, range)
    for (const row of found) {
      if (fold.take(row).includes('created')) {
        const turn = fold.turn()
        if (turn) turns.push(turn)
      }
      if (turns.length > count) return turns
    }
    if (found.length < piece) return turns
    after = found.at(-1)?.seq ?? after
  }
}
