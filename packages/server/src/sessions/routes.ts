import {
  SessionCreate,
  SessionListQuery,
  SessionShown,
  SessionUpdate,
} from '@steward/protocol/sessions.ts'
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { waitTypesOf } from '@steward/protocol/waiting-on.ts'
import { invalid } from '../ground/core/errors.ts'
import type { Database } from '../ground/database/database.ts'
import { checkPosition, timeComparisons } from '../ground/database/page-order.ts'
import { contentBody, recordBody } from '../ground/http/limits.ts'
import type { Route } from '../ground/http/route.ts'
import { section } from '../ground/http/section.ts'
import { checkStart } from './events/limited-roles.ts'
import { postEvents } from './events/post.ts'
import { checkAgentRules } from '../resources/agents/rules.ts'
import type { OpenSessionDeps } from './open.ts'
import { openSession } from './open.ts'
import { sessionForWorker } from './claimed/reach.ts'
import { sessionStore } from './rows/sessions.ts'
import { readStatusFilter } from './rows/statuses.ts'
import { waitStore } from './rows/waits.ts'
import { archiveSession, deleteSession, updateSession } from './update.ts'

const sessions = section('Sessions', ['workspace'], '/v1/sessions')

const withClaim = ['workspace', 'claim'] as const
const answer = SessionShown

export function sessionRoutes(
  opening: OpenSessionDeps & { publicUrl: string | undefined },
): Route[] {
  const { clock, seal, publicUrl } = opening

  const get = ({ read }: Database, tenant: string, id: string) =>
    sessionStore(read).get(tenant, id, clock.now())

  /** Adds what the sessions wait for. Clients of the official interface get no field that they do not know. */
  async function withWaits(
    { db, tenant, dialect }: { db: Database; tenant: string; dialect: Dialect },
    sessions: readonly Session[],
  ): Promise<Session[]> {
    if (dialect === 'client') return [...sessions]
    const waits = await waitStore(db.read).ofSessions(tenant, sessions, clock.now())
    return sessions.map((each) => ({ ...each, waiting_on: waits.get(each.id) ?? null }))
  }

  return [
    sessions.post(
      '',
      {
        summary: 'Create a session',
        description:
          'Pins the version of the agent. With `initial_events` the session runs at once; without, it waits for a message. No sandbox starts before a tool needs one.',
        body: SessionCreate,
        limits: contentBody,
        counted: 'sessions',
        operation: 'start a session',
        answer,
      },
      async ({ db, tenant, principal, body }) => {
        checkStart(principal, body)
        return openSession(opening, { db, tenant }, body)
      },
    ),
    sessions.list(
      '',
      { summary: 'List sessions', query: SessionListQuery, answer },
      {
        scope: 'sessions',
        async check({ query }) {
          if (query.agent_version && !query.agent_id)
            throw invalid('agent_version: can be used only together with agent_id')
        },
        async rows(call, page) {
          const { db, tenant, query, dialect } = call
          const asked = {
            agentId: query.agent_id,
            agentVersion: query.agent_version,
            deploymentId: query.deployment_id,
            memoryStoreId: query.memory_store_id,
            statuses: readStatusFilter(query, dialect),
            waits: query.waiting_on && waitTypesOf(query.waiting_on),
            archived: query.include_archived ?? false,
            made: timeComparisons(query),
          }
          checkPosition(page, asked.made)
          const listing = await sessionStore(db.read).list(tenant, page, asked, clock.now())
          return { ...listing, rows: await withWaits(call, listing.rows) }
        },
      },
    ),
    sessions.get(
      '/:id',
      { callers: withClaim, claim: 'session', summary: 'Get a session', answer },
      async (call) => {
        const { db, tenant, principal, params, origin } = call
        const session = await get(db, tenant, params.id)
        if (principal.kind === 'claim') return sessionForWorker(session, publicUrl ?? origin)
        const [shown = session] = await withWaits(call, [session])
        return shown
      },
    ),
    sessions.post(
      '/:id',
      {
        summary: 'Update a session',
        description:
          'Changes the title, the metadata, the budget, and the tools and MCP servers of this session alone. Tools count from the next turn; while a turn runs they are refused with 400.',
        body: SessionUpdate,
        limits: recordBody,
        answer,
      },
      async ({ db, tenant, params, body }) => {
        await checkAgentRules(opening, tenant, { mcp_servers: body.agent?.mcp_servers }, 'agent.')
        return db.write((tx) =>
          updateSession(tx, tenant, params.id, body, { now: clock.now(), seal }),
        )
      },
    ),
    sessions.post(
      '/:id/archive',
      {
        summary: 'Archive a session',
        description:
          'Ends the session and keeps its record: it can be read and takes no further events. Refused with 400 while a turn runs.',
        answer,
      },
      ({ db, tenant, params }) =>
        db.write((tx) => archiveSession(tx, tenant, params.id, clock.now())),
    ),
    sessions.post(
      '/:id/cancel',
      {
        summary: 'Cancel a session',
        isExtension: true,
        counted: 'never',
        operation: 'answer a session',
        description: 'Ends the running turn, and the messages behind it.',
        answer,
      },
      async ({ db, tenant, params }) => {
        await db.write((tx) =>
          postEvents(tx, tenant, params.id, [{ type: 'user.interrupt' }], clock.now()),
        )
        return get(db, tenant, params.id)
      },
    ),
    sessions.remove(
      '/:id',
      {
        summary: 'Delete a session',
        description:
          'The session and its files are answered with 404 from now on. Refused with 400 while a turn runs.',
        type: 'session_deleted',
      },
      ({ db, tenant, params }) =>
        db.write((tx) => deleteSession(tx, tenant, params.id, clock.now())),
    ),
  ]
}
