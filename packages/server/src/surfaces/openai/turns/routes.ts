import { AfterQuery, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import { OpenAIItemShown, OpenAITurnShown } from '@steward/protocol/openai/turns.ts'
import type { Database } from '../../../ground/database/database.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { defaultLimit, listOf, unknownAfter } from '../page.ts'
import { itemTypes } from './item.ts'
import { readItems } from './items.ts'
import { findTurn, readTurns } from './pages.ts'
import type { EventPlaces } from './places.ts'
import { eventPlaces } from './places.ts'
import type { LoggedTurn } from './turn.ts'
import { showTurn } from './turn.ts'
import type { SessionLog } from './turns.ts'
import { turnAt } from './turns.ts'

const turns = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions/:id')

/** Throws for a session that is absent. */
async function openLog({ read }: Database, tenant: string, session: string) {
  const { agent_id: agent } = await sessionStore(read).row(tenant, session)
  return { log: { read, tenant, session }, of: { session, agent } }
}

async function itemList(
  log: SessionLog,
  places: EventPlaces,
  { limit = defaultLimit, order = 'desc', after }: AfterQuery,
  turn?: LoggedTurn,
) {
  const behind = after === undefined ? undefined : await places.find(log, after, itemTypes)
  const isListed = behind !== undefined && (!turn || turnAt([turn], behind) === turn)
  if (after !== undefined && !isListed) throw unknownAfter(after)
  const { items, more, last } = await readItems(log, { limit, order, behind, turn })
  if (last) places.note(log, last.id, last.seq)
  return listOf(items, more)
}

export function turnRoutes(): Route[] {
  const places = eventPlaces()
  return [
    turns.get(
      '/turns',
      { summary: 'List turns', query: AfterQuery, answer: OpenAIListOf(OpenAITurnShown) },
      async ({ db, tenant, params: { id }, query }) => {
        const { log, of } = await openLog(db, tenant, id)
        const { limit = defaultLimit, order = 'desc', after } = query
        const page = await readTurns(log, places, { limit, order, after })
        return listOf(
          page.turns.map((turn) => showTurn(turn, of)),
          page.more,
        )
      },
    ),
    turns.get(
      '/turns/:turn_id',
      { summary: 'Get a turn', answer: OpenAITurnShown },
      async ({ db, tenant, params: { id, turn_id } }) => {
        const { log, of } = await openLog(db, tenant, id)
        return showTurn(await findTurn(log, places, turn_id), of)
      },
    ),
    turns.get(
      '/turns/:turn_id/items',
      {
        summary: 'List the items of a turn',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAIItemShown),
      },
      async ({ db, tenant, params: { id, turn_id }, query }) => {
        const { log } = await openLog(db, tenant, id)
        const turn = await findTurn(log, places, turn_id)
        return turn.status === 'queued' ? listOf([], false) : itemList(log, places, query, turn)
      },
    ),
    turns.get(
      '/items',
      { summary: 'List items', query: AfterQuery, answer: OpenAIListOf(OpenAIItemShown) },
      async ({ db, tenant, params: { id }, query }) => {
        const { log } = await openLog(db, tenant, id)
        return itemList(log, places, query)
      },
    ),
  ]
}
