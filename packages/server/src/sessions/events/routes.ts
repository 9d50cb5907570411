import type { ClientEvent } from '@steward/protocol/events.ts'
import { EventShown } from '@steward/protocol/shown-events.ts'
import { EventListQuery, StreamQuery } from '@steward/protocol/event-queries.ts'
import { PostEvents, PostMessage } from '@steward/protocol/events.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { forbidden, invalid } from '../../ground/core/errors.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { emptyReply, jsonTextReply, piecesReply } from '../../ground/http/reply.ts'
import { contentBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { checkWritingClaim } from '../work/claim.ts'
import { claimEnds } from '../work/ending.ts'
import { sessionStore } from '../rows/sessions.ts'
import { checkAnswers } from './limited-roles.ts'
import { postMessage } from './message.ts'
import { eventText } from '../log/log.ts'
import type { Ground } from '../../ground/ground.ts'
import { postInUnits } from './post.ts'
import { withRubrics } from './rubrics.ts'
import type { WaitSource } from './read.ts'
import { eventPage, eventStream, wholeLog } from './read.ts'
import { readStreamView } from './wire.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'

const events = section('Events', ['workspace'], '/v1/sessions/:id')

const withClaim = ['workspace', 'claim'] as const

/** A worker posts tool results only. Messages, confirmations and interrupts need a person's key. */
function checkWorkers(events: readonly ClientEvent[]): void {
  for (const [index, { type }] of events.entries())
    if (type !== 'user.tool_result' && type !== 'user.custom_tool_result')
      throw forbidden(`events.${index}.type: a claim can post results of tools, but no ${type}`)
}

/**
 * True for events that end or answer running work. They are not rate-limited, so that every caller can stop a turn and
 * answer a call.
 */
const isSettling = ({ type }: ClientEvent): boolean =>
  !['user.message', 'system.message', 'user.define_outcome'].includes(type)

export function sessionEventRoutes(
  deps: Ground & {
    keeping: BlobKeeping
    changes: WaitSource
  },
): Route[] {
  const { bus, clock, changes: waits } = deps
  const ends = claimEnds(deps)

  /** Checks that the session exists in this tenant and returns its reader. Every route begins with this call. */
  async function open({ read }: Database, tenant: string, id: string) {
    await sessionStore(read).row(tenant, id)
    return read
  }

  /** The stream of a worker ends with its claim. */
  const endOf = (principal: Principal) =>
    principal.kind === 'claim' ? (until: AbortSignal) => ends(principal, until) : undefined

  return [
    events.get(
      '/events',
      {
        callers: withClaim,
        claim: 'session',
        summary: 'List events',
        description: 'Answers a stream where the request accepts text/event-stream.',
        query: EventListQuery,
        answer: ListOf(EventShown),
        further: [
          {
            status: 200,
            answer: 'stream',
            description: 'A stream where the request accepts `text/event-stream`.',
          },
        ],
      },
      async ({ db, tenant, principal, params, query, accept, lastEventId, dialect }) => {
        const read = await open(db, tenant, params.id)
        if (!accept.includes('text/event-stream'))
          return eventPage(read, tenant, params.id, query, dialect)
        if (query.view ?? query.threads)
          throw invalid('view, threads: are of pages; a stream shows the whole events of a session')
        // Leaves `replay` out: it is parsed already, and the schema expects text.
        const options = StreamQuery.omit({ replay: true }).safeParse(query)
        if (!options.success) throw invalid('event_deltas: must be agent.message or agent.thinking')
        // A browser that connects again sends the query of its first request with a new `Last-Event-ID`.
        const last = lastEventId ?? query.after_seq?.toString() ?? null
        const start = { replay: query.replay ?? false, lastEventId: last, ends: endOf(principal) }
        const view = readStreamView(options.data, dialect)
        return eventStream({ read, bus, waits }, tenant, params.id, view, start)
      },
    ),
    events.get(
      '/events/stream',
      {
        callers: withClaim,
        claim: 'session',
        summary: 'Follow events as a stream (SSE)',
        description: 'The stream stays open until the session is deleted.',
        query: StreamQuery,
        answer: 'stream',
      },
      async ({ db, tenant, principal, params, query, lastEventId, dialect }) => {
        const read = await open(db, tenant, params.id)
        const start = { replay: query.replay ?? false, lastEventId, ends: endOf(principal) }
        return eventStream(
          { read, bus, waits },
          tenant,
          params.id,
          readStreamView(query, dialect),
          start,
        )
      },
    ),
    events.post(
      '/events',
      {
        callers: withClaim,
        claim: 'session',
        summary: 'Post events',
        description: 'Answers 202 without a body, or the events to the official client.',
        body: PostEvents,
        limits: contentBody,
        operation: 'answer a session',
        isUncounted: ({ events }) => events.every(isSettling),
        answer: z.object({ data: z.array(EventShown) }),
        further: [
          { status: 202, answer: 'none', description: 'Done, without `anthropic-version`.' },
        ],
      },
      async ({ db, tenant, principal, params, body, dialect }) => {
        if (principal.kind === 'claim') checkWorkers(body.events)
        checkAnswers(principal, body.events, 'events')
        const ref = { tenant, session: params.id, clock }
        const check =
          principal.kind === 'claim'
            ? (tx: Queries, now: number) => checkWritingClaim(tx, principal, now)
            : undefined
        const given = { tenant, read: db.read, blobs: deps.keeping.blobs, now: clock.now() }
        const posted = await postInUnits(
          db,
          ref,
          await withRubrics(given, body.events, 'events'),
          check,
        )
        if (dialect === 'interface') return emptyReply(202)
        const shown = posted.map((each) => eventText(params.id, each, dialect))
        return jsonTextReply(`{"data":[${shown.join(',')}]}`)
      },
    ),
    events.post(
      '/messages',
      {
        summary: 'Post a message and follow its turn',
        isExtension: true,
        operation: 'answer a session',
        description: 'The stream ends when the turn does.',
        body: PostMessage,
        limits: contentBody,
        answer: 'stream',
      },
      ({ db, tenant, params, body: { content }, dialect }) =>
        postMessage({ db, bus }, tenant, params.id, { content, clock, dialect }),
    ),
    events.get(
      '/log',
      {
        summary: 'Get the whole log',
        isExtension: true,
        description: 'Extension events are included.',
        answer: z.array(EventShown),
      },
      async ({ db, tenant, params, dialect }) => {
        const read = await open(db, tenant, params.id)
        return piecesReply(() => wholeLog(read, tenant, params.id, dialect))
      },
    ),
  ]
}
