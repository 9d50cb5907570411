/** Reads the bounds of turns in a part of the log, without reading the contents of events. */
import { boundsStatement, mostBounds } from './store.ts'
import type { LoggedTurn, TurnRow } from './turn.ts'
import { turnFold } from './turn.ts'
import type { SessionLog } from './turns.ts'
import { isEnd, turnAt, turnsAround } from './turns.ts'

/** Events that are read on either side: the end of a turn is seldom farther than this from a page's end. */
const margin = 20

type Bounds = Pick<LoggedTurn, 'id' | 'first' | 'last'>

/** The turns that have events from `first` to `last`. */
export async function boundsAround(
  log: SessionLog,
  first: number,
  last: number,
): Promise<readonly Bounds[]> {
  const { read, tenant, session: sessionId, thread } = log
  const after = Math.max(0, first - margin - 1)
  const part = {
    tenant,
    session: sessionId,
    thread: thread ?? undefined,
    after,
    before: last + margin + 1,
  }
  const rows = await boundsStatement(thread === null ? 'session' : 'thread')(read, part)
  const from = after === 0 ? 0 : rows.findIndex((row) => row.seq < first && isEnd(row)) + 1
  const isCut = rows.length === mostBounds || (after > 0 && from === 0)
  const turns = isCut ? [] : turnsOf(thread, rows.slice(from))
  return isCut || turnAt(turns, last)?.last === null ? turnsAround(log, first, last) : turns
}

function turnsOf(thread: string | null, rows: readonly TurnRow[]): LoggedTurn[] {
  const fold = turnFold(thread)
  const turns: LoggedTurn[] = []
  for (const row of rows) {
    const turn = fold.take(row).includes('created') ? fold.turn() : undefined
    if (turn) turns.push(turn)
  }
  return turns
}
