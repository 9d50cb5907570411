import { OpenAIDeleted, OpenAIListOf, readMetadataFilter } from '@steward/protocol/openai/lists.ts'
import { OpenAIEventsCreate } from '@steward/protocol/openai/inputs.ts'
import type { OpenAIInputEvent } from '@steward/protocol/openai/inputs.ts'
import {
  OpenAISessionCreate,
  OpenAISessionListQuery,
  OpenAISessionShown,
  OpenAISessionUpdate,
} from '@steward/protocol/openai/sessions.ts'
import { conflict, forbidden } from '../../../ground/core/errors.ts'
import type { Database, Queries } from '../../../ground/database/database.ts'
import { contentBody, recordBody } from '../../../ground/http/limits.ts'
import { emptyReply, streamReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { isLimited } from '../../../sessions/events/limited-roles.ts'
import { postInUnits } from '../../../sessions/events/post.ts'
import { readHead } from '../../../sessions/log/head.ts'
import { tailLog } from '../../../sessions/log/tail.ts'
import type { FileDeps } from '../environments/inline-files.ts'
import { checkAgentRules } from '../../../resources/agents/rules.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { deleteSession, isRunning, updateSession } from '../../../sessions/update.ts'
import { onceByKey } from '../idempotency.ts'
import { openaiList, resolvePaging } from '../page.ts'
import { createFrom } from './create.ts'
import { isPlain, namedBy } from './environment.ts'
import { checkCalls, toClientEvents } from './events.ts'
import { showSession, showSessions } from './show.ts'
import { toSessionChange, checkPrice } from './update.ts'
import { newStanding, readStanding, waitingFunctions } from './standing.ts'
import { eventFrames } from './stream.ts'
import { environmentReady, sessionEvent } from './wire-events.ts'
import { sessionLog } from '../turns/logs.ts'
import { threadRows } from '../turns/store.ts'
import type { SessionLog } from '../turns/turns.ts'

const sessions = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions')
const answer = OpenAISessionShown

/** For a reviewer, who starts sessions of what is stored and approved. */
function checkStored({ agent_id, agent, environment }: OpenAISessionCreate): void {
  if (agent_id === undefined || agent !== undefined)
    throw forbidden(
      'agent: a reviewer starts sessions of stored agents as they are: name one by agent_id; an agent in the request needs the role member',
    )
  if (environment.type === 'none') return
  const isStored = namedBy(environment) !== undefined && isPlain(environment)
  if (!isStored || (environment.skills ?? []).length > 0)
    throw forbidden(
      'environment: a reviewer works in stored environments as they are: name one by environment_id; other fields need the role member',
    )
}

/** True for an input that ends or answers running work. */
const isSettling = ({ type }: OpenAIInputEvent): boolean => type !== 'agent.session.input.message'

export function sessionRoutes(deps: FileDeps): Route[] {
  const { bus, clock, seal } = deps

  /** The events of all threads behind `after`. */
  const follow = (log: SessionLog, after: number, signal: AbortSignal) =>
    tailLog({ read: log.read, bus }, log.tenant, log.session, {
      after,
      signal,
      extensions: false,
      outputs: true,
      dialect: 'interface',
      readRows: (page) => threadRows(log, 'stream', page),
    })

  /** Reads the session again. Resolves to undefined when the session was deleted. */
  const reader = (db: Database, tenant: string, id: string) => async () => {
    try {
      return await showSession(db.read, tenant, id, clock.now())
    } catch (error) {
      if (await isGone(db, tenant, id)) return undefined
      throw error
    }
  }

  return [
    sessions.post(
      '',
      {
        summary: 'Create a session',
        description: 'With `stream`, answers the events of its first turn.',
        body: OpenAISessionCreate,
        limits: contentBody,
        counted: 'sessions',
        operation: 'start a session',
        isStream: ({ stream: isStream }) => isStream ?? false,
        answer,
      },
      async ({ db, tenant, principal, body }) => {
        if (isLimited(principal)) checkStored(body)
        const { id, agent } = await createFrom(deps, { db, tenant }, body)
        const read = reader(db, tenant, id)
        const begun = await showSession(db.read, tenant, id, clock.now())
        if (!body.stream) return begun
        const log = { read: db.read, tenant, session: id, agent: agent.id, thread: null }
        const view = { log, standing: newStanding, begun, read }
        return streamReply((signal) => {
          const tailed = follow(log, 0, signal)
          const first = sessionEvent('created', id, begun) + environmentReady(begun)
          return before(first, eventFrames(tailed, view, true))
        })
      },
    ),
    sessions.get(
      '',
      { summary: 'List sessions', query: OpenAISessionListQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = sessionStore(db.read)
        const page = await resolvePaging(query, (id) => store.row(tenant, id))
        const { agent_id: agentId } = query
        const filter = { agentId, metadata: readMetadataFilter(query), archived: false, made: [] }
        const { rows, more } = await store.list(tenant, page, filter, clock.now())
        return openaiList(await showSessions(db.read, tenant, rows), more)
      },
    ),
    sessions.post(
      '/:id',
      {
        summary: 'Update a session',
        description: 'The agent changes between turns alone.',
        body: OpenAISessionUpdate,
        limits: recordBody,
        answer,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const session = await sessionStore(db.read).get(tenant, id, clock.now())
        const asked = toSessionChange(body, session)
        await checkAgentRules(deps, tenant, { model: asked.agent?.model }, 'agent.')
        if (asked.budget) await checkPrice(deps, tenant, session, asked)
        await db.write(async (tx) => {
          const now = clock.now()
          // The change is computed from the locked session, because fields that are replaced as wholes depend on its
          // state.
          await sessionStore(tx).getForUpdate(tenant, id)
          const change = toSessionChange(body, await sessionStore(tx).get(tenant, id, now))
          await updateSession(tx, tenant, id, change, { now, seal, addsBudget: true })
        })
        return showSession(db.read, tenant, id, clock.now())
      },
    ),
    sessions.get('/:id', { summary: 'Get a session', answer }, ({ db, tenant, params }) =>
      showSession(db.read, tenant, params.id, clock.now()),
    ),
    sessions.delete(
      '/:id',
      {
        summary: 'Delete a session',
        description: 'Answers 409 while a turn runs: cancel it first.',
        answer: OpenAIDeleted('agent.session.deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await db.write(async (tx) => {
          await sessionStore(tx).getForUpdate(tenant, id)
          if (isRunning((await readHead(tx, tenant, id)).status))
            throw conflict(`session ${id} is running: cancel its turn, and wait until it is idle`)
          await deleteSession(tx, tenant, id, clock.now())
        })
        return { id, deleted: true, object: 'agent.session.deleted' }
      },
    ),
    sessions.post(
      '/:id/events',
      {
        summary: 'Send events',
        description: 'Answers 202 without a body.',
        body: OpenAIEventsCreate,
        limits: contentBody,
        operation: 'answer a session',
        isUncounted: ({ events }) => events.every(isSettling),
        status: 202,
        answer: 'none',
      },
      async ({ db, tenant, params: { id }, body, header }) => {
        const log = await sessionLog(db.read, tenant, id)
        const key = header('idempotency-key')
        await onceByKey(db, tenant, { scope: id, key, body }, clock, async (take) => {
          await checkCalls(log, body.events)
          const ref = { tenant, session: id, clock, steers: true }
          const keep = take && ((tx: Queries, now: number) => take(tx, now, null))
          await postInUnits(db, ref, toClientEvents(body.events), keep)
          return null
        })
        return emptyReply(202)
      },
    ),
    sessions.get(
      '/:id/events',
      {
        summary: 'Follow events as a stream (SSE)',
        description: 'Live events alone. The stream stays open until the session is deleted.',
        answer: 'stream',
      },
      async ({ db, tenant, params: { id } }) => {
        const log = await sessionLog(db.read, tenant, id)
        const begun = await showSession(db.read, tenant, id, clock.now())
        const { next_seq: after } = await readHead(db.read, tenant, id)
        const standing = await readStanding(log, after)
        const rows = await waitingFunctions(log, after)
        const waiting = { rows, after }
        const view = { log, standing, waiting, begun, read: reader(db, tenant, id) }
        return streamReply((signal) => eventFrames(follow(log, after, signal), view, false))
      },
    ),
  ]
}

async function* before(first: string, others: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first
  yield* others
}

async function isGone(db: Database, tenant: string, id: string): Promise<boolean> {
  const revision = await sessionStore(db.read).filesRevision(tenant, id)
  return revision === undefined
}
