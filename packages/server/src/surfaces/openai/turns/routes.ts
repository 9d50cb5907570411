import { AfterQuery, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import { OpenAIItemShown, OpenAITurnShown } from '@steward/protocol/openai/turns.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { itemList, itemsOfTurn, sessionLog, turnList } from './logs.ts'
import { findTurn } from './pages.ts'
import { eventPositions } from './event-positions.ts'
import { showTurn } from './turn.ts'

const turns = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions/:id')

export function turnRoutes(): Route[] {
  const positions = eventPositions()
  return [
    turns.get(
      '/turns',
      { summary: 'List turns', query: AfterQuery, answer: OpenAIListOf(OpenAITurnShown) },
      async ({ db, tenant, params: { id }, query }) =>
        turnList(await sessionLog(db.read, tenant, id), positions, query),
    ),
    turns.get(
      '/turns/:turn_id',
      { summary: 'Get a turn', answer: OpenAITurnShown },
      async ({ db, tenant, params: { id, turn_id } }) => {
        const log = await sessionLog(db.read, tenant, id)
        return showTurn(await findTurn(log, positions, turn_id), log)
      },
    ),
    turns.get(
      '/turns/:turn_id/items',
      {
        summary: 'List the items of a turn',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAIItemShown),
      },
      async ({ db, tenant, params: { id, turn_id: turn }, query }) =>
        itemsOfTurn(await sessionLog(db.read, tenant, id), positions, { turn, query }),
    ),
    turns.get(
      '/items',
      { summary: 'List items', query: AfterQuery, answer: OpenAIListOf(OpenAIItemShown) },
      async ({ db, tenant, params: { id }, query }) =>
        itemList(await sessionLog(db.read, tenant, id), positions, query),
    ),
  ]
}
