import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import { StdioReport } from '@steward/protocol/stdio-servers.ts'
import { recordText } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Head } from '../log/head.ts'
import { getHeadForUpdate, stateOf } from '../log/head.ts'
import { idleAgain } from '../log/idle.ts'
import type { LogEntry } from '../log/log.ts'
import { appendEntries } from '../log/append.ts'
import type { ClaimPrincipal } from '../../ground/http/principal.ts'
import { requireClaim } from '../../ground/http/principal.ts'
import { emptyReply } from '../../ground/http/reply.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { checkClaim } from '../work/claim.ts'
import { serversIn, stdioError } from './readiness.ts'
import { stdioStore } from './store.ts'

const servers = section('MCP servers', ['claim'], '/v1/ext/stdio-servers/:session_id', 'session')

export function stdioRoutes({ clock }: Ground): Route[] {
  return [
    servers.post(
      '',
      {
        summary: 'Report the stdio servers of a session',
        description: 'Their tools, or why they have none.',
        body: StdioReport,
        limits: recordBody,
        answer: 'none',
        status: 204,
      },
      async ({ db, principal, body: { servers } }) => {
        await db.write((tx) => keepReport(tx, requireClaim(principal), servers, clock.now()))
        return emptyReply(204)
      },
    ),
  ]
}

/** Stores a report. A turn that waited for it goes on. */
async function keepReport(
  tx: Queries,
  claim: ClaimPrincipal,
  servers: StdioServer[],
  now: number,
): Promise<void> {
  const { tenant, sessionId: session, workId: work_id, generation } = claim
  await checkClaim(tx, claim, now)
  const head = await getHeadForUpdate(tx, tenant, session)
  const text = recordText('list of servers', servers)
  const store = stdioStore(tx)
  const before = await store.report(tenant, session)
  await store.put({
    tenant_id: tenant,
    session_id: session,
    work_id,
    generation,
    servers: text,
  })
  if (head.awaits_stdio === 1) {
    await appendEntries(tx, tenant, session, [], { now, due: true })
    return
  }
  const known =
    before?.work_id === work_id && before.generation === generation ? serversIn(before) : []
  const fresh = servers.filter((server) => !known.some((each) => isStillDown(each, server)))
  const errors = isAtWork(head) ? fresh.flatMap(toldOf) : []
  if (errors.length === 0) return
  await appendEntries(tx, tenant, session, [...errors, ...idleAgain(head, now)], { now })
}

const isStillDown = (before: StdioServer, { name, tools, error }: StdioServer): boolean =>
  before.name === name && before.tools === null && tools === null && before.error === error

/** A turn that is about to begin reports missing servers itself. */
const isAtWork = (head: Head): boolean =>
  head.status === 'running' || stateOf(head) === 'requires_action'

const toldOf = ({ name, error }: StdioServer): LogEntry[] =>
  error === null ? [] : [stdioError({ server: name, message: error })]
