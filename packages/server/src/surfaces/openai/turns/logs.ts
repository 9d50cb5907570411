/** The log behind a request's list of turns and items: the log of a session, or of one of its subagents. */
import type { OpenAIList } from '@steward/protocol/openai/lists.ts'
import type { AfterQuery } from '@steward/protocol/openai/lists.ts'
import type { OpenAIItem, OpenAITurn } from '@steward/protocol/openai/turns.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { defaultLimit, openaiList, unknownAfter } from '../page.ts'
import { itemTypes } from './item.ts'
import { readItems } from './items.ts'
import { findTurn, readTurns } from './pages.ts'
import type { EventPositions } from './event-positions.ts'
import type { LoggedTurn } from './turn.ts'
import { showTurn } from './turn.ts'
import type { SessionLog } from './turns.ts'
import { turnAt } from './turns.ts'

/** Throws when the session does not exist. */
export async function sessionLog(
  read: Reads,
  tenant: string,
  session: string,
): Promise<SessionLog> {
  const { agent_id: agent } = await sessionStore(read).row(tenant, session)
  return { read, tenant, session, agent, thread: null }
}

export async function turnList(
  log: SessionLog,
  positions: EventPositions,
  { limit = defaultLimit, order = 'desc', after }: AfterQuery,
): Promise<OpenAIList<OpenAITurn>> {
  const { turns, more } = await readTurns(log, positions, { limit, order, after })
  return openaiList(
    turns.map((turn) => showTurn(turn, log)),
    more,
  )
}

export async function itemList(
  log: SessionLog,
  positions: EventPositions,
  { limit = defaultLimit, order = 'desc', after }: AfterQuery,
  turn?: LoggedTurn,
): Promise<OpenAIList<OpenAIItem>> {
  const behind = after === undefined ? undefined : await positions.find(log, after, itemTypes)
  const isListed = behind !== undefined && (!turn || turnAt([turn], behind) === turn)
  if (after !== undefined && !isListed) throw unknownAfter(after)
  const { items, more, last } = await readItems(log, { limit, order, behind, turn })
  if (last) positions.note(log, last.id, last.seq)
  return openaiList(items, more)
}

/** Throws when the turn does not exist. */
export async function itemsOfTurn(
  log: SessionLog,
  positions: EventPositions,
  { turn: id, query }: { turn: string; query: AfterQuery },
): Promise<OpenAIList<OpenAIItem>> {
  const turn = await findTurn(log, positions, id)
  return turn.status === 'queued' ? openaiList([], false) : itemList(log, positions, query, turn)
}
