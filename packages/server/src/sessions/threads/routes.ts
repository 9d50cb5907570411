import { StreamQuery, ThreadEventListQuery } from '@steward/protocol/event-queries.ts'
import { EventShown } from '@steward/protocol/shown-events.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { ThreadListQuery, ThreadShown } from '@steward/protocol/sessions.ts'
import { notFound } from '../../ground/core/errors.ts'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Principal } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { eventPage, eventStream } from '../events/read.ts'
import { readStreamView } from '../events/wire.ts'
import type { ThreadRow } from '../log/threads/store.ts'
import { threadStore } from '../log/threads/store.ts'
import { readStatusFilter } from '../rows/statuses.ts'
import { sessionStore } from '../rows/sessions.ts'
import { claimEnds } from '../work/ending.ts'
import { archiveThread } from './archive.ts'
import { primaryAlone, showThread, startupSeconds, statusOf } from './show.ts'

const threads = section('Threads', ['workspace'], '/v1/sessions/:id/threads')
const reading = { callers: ['workspace', 'claim'], claim: 'session' } as const

export function threadRoutes(deps: Ground): Route[] {
  const { bus, clock } = deps
  const ends = claimEnds(deps)

  /** The stream of a worker ends with its claim. */
  const endOf = (principal: Principal) =>
    principal.kind === 'claim' ? (until: AbortSignal) => ends(principal, until) : undefined

  const sessionOf = ({ read }: Database, tenant: string, id: string): Promise<Session> =>
    sessionStore(read).get(tenant, id, clock.now())

  /**
   * Throws not_found when the session has no such thread. `child`: the thread's id; undefined for the primary thread.
   */
  async function open(
    db: Database,
    tenant: string,
    { id, thread }: { id: string; thread: string },
  ) {
    const session = await sessionOf(db, tenant, id)
    const row = await threadStore(db.read).find(tenant, id, thread)
    const isPrimary = thread === primaryThreadId(id)
    if (!row && !isPrimary) throw notFound('thread', thread)
    return { read: db.read, session, row, child: isPrimary ? undefined : thread }
  }

  async function shown(db: Database, tenant: string, params: { id: string; thread: string }) {
    const { read, session, row } = await open(db, tenant, params)
    const startup = await startupSeconds(read, tenant, session)
    if (!row) return primaryAlone(session, startup)
    const primary = await threadStore(read).spentByPrimary(tenant, session.id)
    return showThread(row, session, { now: clock.now(), primary, startup })
  }

  return [
    threads.list(
      '',
      { ...reading, summary: 'List threads', query: ThreadListQuery, answer: ThreadShown },
      {
        scope: ({ id }) => `threads/${id}`,
        async rows({ db, tenant, params: { id }, query, dialect }, paging) {
          const statuses = readStatusFilter(query, dialect)
          const session = await sessionOf(db, tenant, id)
          const isAsked = (status: Session['status']) => statuses?.includes(status) ?? true
          const store = threadStore(db.read)
          const { rows, more } = await store.list(tenant, id, paging)
          const startup = await startupSeconds(db.read, tenant, session)
          const alone = primaryAlone(session, startup)
          if (rows.length === 0 && !paging.from)
            return { rows: isAsked(alone.status) ? [alone] : [], more: false }
          const now = clock.now()
          const primary = await store.spentByPrimary(tenant, id)
          const asked = rows.filter((row) => isAsked(statusOf(row, session)))
          const shownRow = (row: ThreadRow) => showThread(row, session, { now, primary, startup })
          return { rows: asked.map(shownRow), more }
        },
      },
    ),
    threads.get(
      '/:thread',
      { ...reading, summary: 'Get a thread', answer: ThreadShown },
      ({ db, tenant, params }) => shown(db, tenant, params),
    ),
    threads.post(
      '/:thread/archive',
      {
        summary: 'Archive a thread',
        description:
          'Its place among the 25 threads of a session is free then. Refused with 400 for the primary thread and for a thread that runs.',
        answer: ThreadShown,
      },
      async ({ db, tenant, params }) => {
        const { id: session, thread } = params
        await sessionOf(db, tenant, session)
        await db.write((tx) => archiveThread(tx, { tenant, session, thread }, clock.now()))
        return shown(db, tenant, params)
      },
    ),
    threads.get(
      '/:thread/events',
      {
        ...reading,
        summary: 'List the events of a thread',
        query: ThreadEventListQuery,
        answer: ListOf(EventShown),
      },
      async ({ db, tenant, params, query, dialect }) => {
        const { read, child } = await open(db, tenant, params)
        return eventPage(read, tenant, params.id, query, dialect, child)
      },
    ),
    threads.get(
      '/:thread/stream',
      {
        ...reading,
        summary: 'Follow the events of a thread as a stream (SSE)',
        query: StreamQuery,
        answer: 'stream',
      },
      async ({ db, tenant, principal, params, query, lastEventId, dialect }) => {
        const { read, child: thread } = await open(db, tenant, params)
        const start = { replay: query.replay ?? false, lastEventId, ends: endOf(principal), thread }
        return eventStream({ read, bus }, tenant, params.id, readStreamView(query, dialect), start)
      },
    ),
  ]
}
