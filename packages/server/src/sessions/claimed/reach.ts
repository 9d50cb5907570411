/** Which resources a claim covers besides its session. */
import type { SessionMultiagent } from '@steward/protocol/agents.ts'
import { membersOf, withMembers } from '@steward/protocol/multiagent.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import type { Databases } from '../../ground/database/database.ts'
import { fileStore } from '../../resources/files/store.ts'
import type { ClaimedContents } from '../work/claim.ts'
import type { SessionFinder } from '../work/reach.ts'
import { workStore } from '../work/store.ts'
import { ofType, resourceStore } from '../rows/resources.ts'
import { sessionStore } from '../rows/sessions.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'

export function claimedContents(databases: Databases): ClaimedContents {
  const reading = async (tenant: string) => (await databases.open(tenant)).read
  return {
    async agent(tenant, session) {
      const row = await sessionStore(await reading(tenant)).row(tenant, session)
      return fromJson(row.agent)
    },
    async stores(tenant, session) {
      const rows = await resourceStore(await reading(tenant)).ofSession(tenant, session)
      return ofType(rows, 'memory_store').map(({ fields }) => ({
        id: fields.memory_store_id,
        access: fields.access,
      }))
    },
    async hasFile(tenant, session, file) {
      const [row] = await fileStore(await reading(tenant)).named(tenant, [file])
      return row?.session_id === session
    },
  }
}

export const sessionWith = (databases: Databases): SessionFinder => ({
  async file(tenant, file) {
    const { read } = await databases.open(tenant)
    const [row] = await fileStore(read).named(tenant, [file])
    return row?.session_id ?? undefined
  },
  async skill(tenant, environment, skill, now) {
    const { read } = await databases.open(tenant)
    return workStore(read).claimedWithSkill(tenant, environment, skill, now)
  },
})

/**
 * A session as its worker sees it. URLs of MCP servers lead to the MCP proxy, so that the worker learns no other
 * address. A server that the worker starts has no URL.
 */
export const sessionForWorker = (session: Session, base: string): Session => ({
  ...session,
  agent: {
    ...session.agent,
    multiagent: multiagentForWorker(session.agent.multiagent),
    mcp_servers: session.agent.mcp_servers.map((server) =>
      server.url ? { ...server, url: proxyUrl(session.id, server.name, base) } : server,
    ),
  },
})

/** Leaves the servers out: a worker reaches only the MCP servers of the session's own agent. */
const multiagentForWorker = (multiagent: SessionMultiagent | null): SessionMultiagent | null =>
  multiagent &&
  withMembers(
    multiagent,
    membersOf(multiagent).map((member) => ({ ...member, mcp_servers: [] })),
  )

/** `base` may have a path. */
const proxyUrl = (session: string, server: string, base: string): string =>
  `${base.replace(/\/+$/, '')}/v1/ext/mcp-proxy/${session}/${encodeURIComponent(server)}`
