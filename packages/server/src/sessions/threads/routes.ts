import { EventListQuery, EventShown, StreamQuery } from '@steward/protocol/events.ts'
import { ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { z } from 'zod'
import type { Bus } from '../../bus/bus.ts'
import { notFound } from '../../core/errors.ts'
import { threadOf } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Databases } from '../../database/database.ts'
import type { Route } from '../../http/route.ts'
import { route } from '../../http/route.ts'
import { eventPage, eventStream } from '../events/read.ts'
import { viewOf } from '../events/wire.ts'
import { sessionStore } from '../store.ts'

const callers = ['workspace'] as const
const section = 'Session threads'
const Thread = z.looseObject({
  id: z.string(),
  type: z.literal('session_thread'),
  session_id: z.string(),
})

/** The primary thread alone: another name for the session and its log. contract.md 1.5 */
const primary = (session: Session) => ({
  id: threadOf(session.id),
  type: 'session_thread',
  session_id: session.id,
  parent_thread_id: null,
  agent: session.agent,
  status: session.status,
  stats: session.stats,
  usage: session.usage,
  workflow_run_id: null,
  archived_at: session.archived_at,
  created_at: session.created_at,
  updated_at: session.updated_at,
})

export function threadRoutes({
  databases,
  bus,
  clock,
}: {
  databases: Databases
  bus: Bus
  clock: Clock
}): Route[] {
  async function open(tenant: string, { id, thread }: { id: string; thread?: string }) {
    const { read } = databases.of(tenant)
    const session = await sessionStore(read).get(tenant, id, clock.now())
    if (thread !== undefined && thread !== threadOf(id)) throw notFound('thread', thread)
    return { read, session }
  }

  return [
    route(
      {
        method: 'get',
        path: '/v1/sessions/:id/threads',
        callers,
        section,
        summary: 'List threads',
        query: ListQuery,
        answer: ListOf(Thread),
      },
      async ({ tenant, params }) => {
        const thread = primary((await open(tenant, params)).session)
        const ends = { first_id: thread.id, last_id: thread.id }
        return { data: [thread], has_more: false, next_page: null, prev_page: null, ...ends }
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/sessions/:id/threads/:thread',
        callers,
        section,
        summary: 'Get a thread',
        answer: Thread,
      },
      async ({ tenant, params }) => primary((await open(tenant, params)).session),
    ),
    route(
      {
        method: 'get',
        path: '/v1/sessions/:id/threads/:thread/events',
        callers,
        section,
        summary: 'List the events of a thread',
        query: EventListQuery,
        answer: ListOf(EventShown),
      },
      async ({ tenant, params, query }) => {
        const { read } = await open(tenant, params)
        return eventPage(read, tenant, params.id, query)
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/sessions/:id/threads/:thread/stream',
        callers,
        section,
        summary: 'Follow the events of a thread',
        query: StreamQuery,
        answer: 'stream',
      },
      async ({ tenant, params, query, lastEventId }) => {
        const { read } = await open(tenant, params)
        const start = { replay: query.replay ?? false, lastEventId }
        return eventStream({ read, bus }, tenant, params.id, viewOf(query), start)
      },
    ),
  ]
}
