import { AfterQuery, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import {
  OpenAIItemShown,
  OpenAISubagentShown,
  OpenAITurnShown,
} from '@steward/protocol/openai/turns.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { openaiList, resolvePaging } from '../page.ts'
import { itemList, itemsOfTurn, sessionLog, turnList } from '../turns/logs.ts'
import { findTurn } from '../turns/pages.ts'
import { eventPositions } from '../turns/event-positions.ts'
import { showTurn } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'
import { findSubagent, showSubagent } from './subagent.ts'

const sessions = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions/:id')

type SubagentCaller = { db: { read: Reads }; tenant: string }

/** The log of a subagent. Throws when the session or the subagent does not exist. */
async function openThread(
  { db, tenant }: SubagentCaller,
  { id, subagent_id }: { id: string; subagent_id: string },
): Promise<SessionLog> {
  const log = await sessionLog(db.read, tenant, id)
  const { id: thread } = await findSubagent(log, subagent_id)
  return { ...log, thread }
}

export function subagentRoutes(): Route[] {
  const positions = eventPositions()
  return [
    sessions.get(
      '/subagents',
      { summary: 'List subagents', query: AfterQuery, answer: OpenAIListOf(OpenAISubagentShown) },
      async ({ db, tenant, params: { id }, query }) => {
        const log = await sessionLog(db.read, tenant, id)
        const page = await resolvePaging(query, (after) => findSubagent(log, after))
        const { rows, more } = await threadStore(db.read).children(tenant, id, page)
        const { archived_at } = await sessionStore(db.read).row(tenant, id)
        const shown = []
        for (const row of rows) shown.push(await showSubagent(log, row, archived_at))
        return openaiList(shown, more)
      },
    ),
    sessions.get(
      '/subagents/:subagent_id',
      { summary: 'Get a subagent', answer: OpenAISubagentShown },
      async ({ db, tenant, params: { id, subagent_id } }) => {
        const log = await sessionLog(db.read, tenant, id)
        const { archived_at } = await sessionStore(db.read).row(tenant, id)
        return showSubagent(log, await findSubagent(log, subagent_id), archived_at)
      },
    ),
    sessions.get(
      '/subagents/:subagent_id/items',
      {
        summary: 'List the items of a subagent',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAIItemShown),
      },
      async (call) => itemList(await openThread(call, call.params), positions, call.query),
    ),
    sessions.get(
      '/subagents/:subagent_id/turns',
      {
        summary: 'List the turns of a subagent',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAITurnShown),
      },
      async (call) => turnList(await openThread(call, call.params), positions, call.query),
    ),
    sessions.get(
      '/subagents/:subagent_id/turns/:turn_id',
      { summary: 'Get a turn of a subagent', answer: OpenAITurnShown },
      async (call) => {
        const log = await openThread(call, call.params)
        return showTurn(await findTurn(log, positions, call.params.turn_id), log)
      },
    ),
    sessions.get(
      '/subagents/:subagent_id/turns/:turn_id/items',
      {
        summary: 'List the items of a turn of a subagent',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAIItemShown),
      },
      async (call) => {
        const { params, query } = call
        const log = await openThread(call, params)
        return itemsOfTurn(log, positions, { turn: params.turn_id, query })
      },
    ),
  ]
}
