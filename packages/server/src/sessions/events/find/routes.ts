import { FindQuery, FoundEvent } from '@steward/protocol/found-events.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { EventShown } from '@steward/protocol/shown-events.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../../ground/core/text/cursor.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import { forwardPage } from '../../../ground/core/text/page.ts'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { threadStore } from '../../log/threads/store.ts'
import { sessionStore } from '../../rows/sessions.ts'
import { eventById } from '../read.ts'
import { findEvents } from './find-events.ts'
import { textSearch } from './text-search.ts'

const events = section('Events', ['workspace'], '/v1/sessions/:id/events')
const searches = section('Events', ['workspace'], '/v1/ext/sessions/:id')
const Position = z.tuple([z.int()])

/** Behind the other routes of events, whose words are no ids. */
export const findRoutes = (): Route[] => [
  events.get(
    '/:event_id',
    {
      summary: 'Get an event',
      isExtension: true,
      description: 'Whole, whatever its type and its thread.',
      answer: EventShown,
    },
    async ({ db: { read }, tenant, params: { id: sessionId, event_id }, dialect }) => {
      await sessionStore(read).row(tenant, sessionId)
      return eventById(read, { tenant, session: sessionId }, event_id, dialect)
    },
  ),
  searches.get(
    '/find',
    {
      summary: 'Find events',
      description:
        'In the whole log of a session and of its threads. A page may be empty and still have a next one: a request searches so much and no more.',
      query: FindQuery,
      isQueryChecked: true,
      answer: ListOf(FoundEvent),
    },
    async ({ db: { read }, tenant, params: { id: sessionId }, query }) => {
      await sessionStore(read).row(tenant, sessionId)
      const { q, errors = false, tool, order, limit } = query
      if (q === undefined && !errors && tool === undefined)
        throw invalid(
          'q: say what to find by q, errors or tool; the list of events has all of them',
        )
      const thread = await threadOf(read, tenant, sessionId, query.thread)
      const scope = `find/${sessionId}/${order}`
      const cursor = query.page ?? query.cursor
      const { found, next } = await findEvents(
        read,
        { tenant, session: sessionId },
        {
          text: q === undefined ? undefined : textSearch(q),
          errors,
          tool,
          thread,
          order,
          limit,
          from: cursor === undefined ? undefined : decodeCursor(cursor, scope, Position)[0],
        },
      )
      return forwardPage(
        found,
        next === undefined ? null : encodeCursor(scope, [next]),
        found.map(({ id }) => id),
      )
    },
  ),
]

/** Null for the primary thread. Throws not_found when the session has no such thread. */
async function threadOf(
  read: Reads,
  tenant: string,
  session: string,
  thread: string | undefined,
): Promise<string | null | undefined> {
  if (thread === undefined) return undefined
  if (thread === primaryThreadId(session)) return null
  if (!(await threadStore(read).find(tenant, session, thread))) throw notFound('thread', thread)
  return thread
}
