import { EventListQuery, StreamQuery } from '@steward/protocol/events.ts'
import { EventShown } from '@steward/protocol/shown-events.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import type { Session, SessionUsage } from '@steward/protocol/sessions.ts'
import { ThreadListQuery, ThreadShown } from '@steward/protocol/sessions.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { notFound } from '../../ground/core/errors.ts'
import { threadOf } from '../../ground/core/ids.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { eventPage, eventStream } from '../events/read.ts'
import { viewOf } from '../events/wire.ts'
import { statusesOf } from '../rows/statuses.ts'
import { sessionStore } from '../rows/sessions.ts'

const threads = section('Threads', ['workspace'], '/v1/sessions/:id/threads')

/** The primary thread, which is another name for the session and its log. [threads/list] */
const primary = (session: Session) => ({
  id: threadOf(session.id),
  type: 'session_thread',
  session_id: session.id,
  parent_thread_id: null,
  agent: session.agent,
  status: session.status,
  stats: session.status === 'pending' ? null : session.stats,
  usage: hasTokens(session.usage) ? session.usage : null,
  workflow_run_id: null,
  archived_at: session.archived_at,
  created_at: session.created_at,
  updated_at: session.updated_at,
})

const hasTokens = (usage: SessionUsage): boolean =>
  usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens > 0 ||
  usage.cache_creation.ephemeral_5m_input_tokens > 0

type Deps = { bus: Bus; clock: Clock }

export function threadRoutes({ bus, clock }: Deps): Route[] {
  async function open(
    { read }: Database,
    tenant: string,
    { id, thread }: { id: string; thread?: string },
  ) {
    const session = await sessionStore(read).get(tenant, id, clock.now())
    if (thread !== undefined && thread !== threadOf(id)) throw notFound('thread', thread)
    return { read, session }
  }

  return [
    threads.list(
      '',
      { summary: 'List threads', query: ThreadListQuery, answer: ThreadShown },
      {
        scope: ({ id }) => `threads/${id}`,
        async rows({ db, tenant, params, query, dialect }) {
          const statuses = statusesOf(query, dialect)
          const { session } = await open(db, tenant, params)
          const isShown = statuses?.includes(session.status) ?? true
          return { rows: isShown ? [primary(session)] : [], more: false }
        },
      },
    ),
    threads.get(
      '/:thread',
      { summary: 'Get a thread', answer: ThreadShown },
      async ({ db, tenant, params }) => primary((await open(db, tenant, params)).session),
    ),
    threads.get(
      '/:thread/events',
      { summary: 'List the events of a thread', query: EventListQuery, answer: ListOf(EventShown) },
      async ({ db, tenant, params, query, dialect }) => {
        const { read } = await open(db, tenant, params)
        return eventPage(read, tenant, params.id, query, dialect)
      },
    ),
    threads.get(
      '/:thread/stream',
      { summary: 'Follow the events of a thread', query: StreamQuery, answer: 'stream' },
      async ({ db, tenant, params, query, lastEventId, dialect }) => {
        const { read } = await open(db, tenant, params)
        const start = { replay: query.replay ?? false, lastEventId }
        return eventStream({ read, bus }, tenant, params.id, viewOf(query, dialect), start)
      },
    ),
  ]
}
