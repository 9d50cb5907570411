/** Pages of items. Only the page's part of the log is read. */
import type { OpenAIItem } from '@steward/protocol/openai/turns.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf, readEvents } from '../../../sessions/log/log.ts'
import { boundsAround } from './bounds.ts'
import { answeredBy, isCall, phaseTypes, showItem, resultTypes } from './item.ts'
import { itemRows } from './item-rows.ts'
import { phasesStatement } from './store.ts'
import type { LoggedTurn } from './turn.ts'
import type { SessionLog } from './turns.ts'
import { turnAt } from './turns.ts'

type ItemRange = {
  limit: number
  order: 'asc' | 'desc'
  /** The position of the item before the page. */
  behind: number | undefined
  /** The turn whose items are listed; undefined for all items of the session. */
  turn?: LoggedTurn | undefined
}

export type ItemPage = { items: OpenAIItem[]; more: boolean; last: EventRow | undefined }

/** The position behind a turn. */
const endOf = (turn: LoggedTurn | undefined): number =>
  turn && turn.last !== null ? turn.last + 1 : Number.MAX_SAFE_INTEGER

export async function readItems(
  log: SessionLog,
  { limit, order, behind, turn }: ItemRange,
): Promise<ItemPage> {
  const [first, end] = [(turn?.first ?? 1) - 1, endOf(turn)]
  const range =
    order === 'asc'
      ? { after: behind ?? first, before: end }
      : { after: first, before: behind ?? end }
  const { rows, more } = await itemRows(log, { ...range, order, limit })
  const seqs = rows.map(({ seq }) => seq)
  const [low, high] = [Math.min(...seqs), Math.max(...seqs)]
  const turns = rows.length === 0 ? [] : await boundsAround(log, low, high)
  const results = await resultsOf(log, rows, turnAt(turns, high)?.last ?? undefined)
  const next = await eventsBehind(log, rows)
  const items = rows.map((row) => {
    const of = turnAt(turns, row.seq)
    const turn = {
      turnId: of?.id ?? row.id,
      isOver: of?.last !== null,
      result: results.get(row.id),
      behind: next.get(row.id),
      owner: log,
    }
    return showItem(row, turn)
  })
  return { items, more, last: rows.at(-1) }
}

/** Events that are read behind the last message: the end of its request is seldom farther. */
const margin = 20

/** The events that tell the phases of the messages among these rows. */
async function eventsBehind(
  { read, tenant, session, thread }: SessionLog,
  rows: readonly EventRow[],
): Promise<Map<string, Pick<EventRow, 'type' | 'data'>>> {
  const behind = new Map<string, Pick<EventRow, 'type' | 'data'>>()
  const messages = rows.filter(({ type }) => type === 'agent.message')
  if (messages.length === 0) return behind
  const seqs = messages.map(({ seq }) => seq)
  const part = {
    tenant,
    session,
    thread: thread ?? undefined,
    after: Math.min(...seqs),
    before: Math.max(...seqs) + margin,
  }
  const found = await phasesStatement(thread === null ? 'session' : 'thread')(read, part)
  for (const { id, seq } of messages) {
    const range = { after: seq, types: phaseTypes, limit: 1, thread }
    const next =
      found.find((row) => row.seq > seq) ?? (await readEvents(read, tenant, session, range))[0]
    if (next) behind.set(id, next)
  }
  return behind
}

/** The most rows of one read. */
const piece = 50

/** The results of the calls among these rows. Results come after the calls and before `end`. */
async function resultsOf(
  { read, tenant, session, thread }: SessionLog,
  rows: readonly EventRow[],
  end: number | undefined,
): Promise<Map<string, EventRow>> {
  const calls = rows.filter(({ type }) => isCall(type))
  const open = new Set(calls.map(({ id }) => id))
  const results = new Map<string, EventRow>()
  let after = Math.min(...calls.map(({ seq }) => seq))
  while (open.size > 0) {
    const range = { after, before: end, types: resultTypes, limit: piece, thread }
    const found = await readEvents(read, tenant, session, range)
    for (const row of found) {
      const id = answeredBy(eventOf(row))
      if (id !== undefined && open.delete(id)) results.set(id, row)
    }
    if (found.length < piece) break
    after = found.at(-1)?.seq ?? after
  }
  return results
}
