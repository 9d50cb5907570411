/** Subagents and traces, of which this surface shows none. */
import { AfterQuery, OpenAIListOf, UnixSeconds } from '@steward/protocol/openai/lists.ts'
import { OpenAIItemShown, OpenAITurnShown } from '@steward/protocol/openai/turns.ts'
import { z } from 'zod'
import type { RouteCall } from '../../../ground/http/route.ts'
import { notFound } from '../../../ground/core/errors.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { listOf } from '../page.ts'

const sessions = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions/:id')

const Subagent = z
  .object({
    id: z.string(),
    object: z.literal('agent.session.subagent'),
    session_id: z.string(),
    parent_agent_id: z.string(),
    name: z.string().nullable(),
    instructions: z.null(),
    status: z.enum(['active', 'closed']),
    opened_at: UnixSeconds,
    closed_at: UnixSeconds.nullable(),
  })
  .meta({ id: 'OpenAISubagent', description: 'An agent that the agent of a session has started.' })
const Trace = z
  .object({
    id: z.string(),
    object: z.literal('agent.session.trace'),
    session_id: z.string(),
    created_at: UnixSeconds,
    otlp: z.looseObject({}),
  })
  .meta({ id: 'OpenAITrace', description: 'The trace of a turn.' })

type Call = RouteCall<'/:id', unknown, unknown>

async function nothing({ db, tenant, params: { id } }: Pick<Call, 'db' | 'tenant' | 'params'>) {
  await sessionStore(db.read).row(tenant, id)
  return listOf([], false)
}

async function absent({
  db,
  tenant,
  params: { id, subagent_id },
}: Pick<
  RouteCall<'/:id/:subagent_id', unknown, unknown>,
  'db' | 'tenant' | 'params'
>): Promise<object> {
  await sessionStore(db.read).row(tenant, id)
  throw notFound('subagent', subagent_id)
}

export const subagentRoutes = (): Route[] => [
  sessions.get(
    '/subagents',
    {
      summary: 'List subagents',
      description: 'Empty: threads of a session are at `/v1/sessions/:id/threads`.',
      query: AfterQuery,
      answer: OpenAIListOf(Subagent),
    },
    nothing,
  ),
  sessions.get('/subagents/:subagent_id', { summary: 'Get a subagent', answer: Subagent }, absent),
  sessions.get(
    '/subagents/:subagent_id/items',
    {
      summary: 'List the items of a subagent',
      query: AfterQuery,
      answer: OpenAIListOf(OpenAIItemShown),
    },
    absent,
  ),
  sessions.get(
    '/subagents/:subagent_id/turns',
    {
      summary: 'List the turns of a subagent',
      query: AfterQuery,
      answer: OpenAIListOf(OpenAITurnShown),
    },
    absent,
  ),
  sessions.get(
    '/subagents/:subagent_id/turns/:turn_id',
    { summary: 'Get a turn of a subagent', answer: OpenAITurnShown },
    absent,
  ),
  sessions.get(
    '/subagents/:subagent_id/turns/:turn_id/items',
    {
      summary: 'List the items of a turn of a subagent',
      query: AfterQuery,
      answer: OpenAIListOf(OpenAIItemShown),
    },
    absent,
  ),
  sessions.get(
    '/traces',
    {
      summary: 'List traces',
      description: 'Empty: traces are exported by OTLP.',
      query: AfterQuery,
      answer: OpenAIListOf(Trace),
    },
    nothing,
  ),
]
