/** The MCP servers that a session's worker starts, as its turns use them. */
import { offerWorkerTools, toolRoom } from '@steward/harness/tools/mcp/offer-tools.ts'
import type { Tool } from '@steward/harness/turn.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import { namesOfServer } from '../../resources/agents/rules.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { Head } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { StdioReadiness } from '../../sessions/stdio-servers/readiness.ts'
import {
  stdioServersOf,
  serversIn,
  judgeReadiness,
} from '../../sessions/stdio-servers/readiness.ts'
import { stdioStore } from '../../sessions/stdio-servers/store.ts'
import { workStore } from '../../sessions/work/store.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** Decides whether a turn can begin with the worker's servers. Removes a report that no longer counts. */
export async function ownServers(
  tx: Queries,
  { tenant, session }: SessionRef,
  { stdio_ms: stdioMs }: Head,
  now: number,
): Promise<StdioReadiness> {
  if (stdioMs === null) return { begin: true, stands: true, failures: [] }
  const { agent } = await sessionStore(tx).row(tenant, session)
  const store = stdioStore(tx)
  const item = await workStore(tx).findLiveForUpdate(tenant, session)
  const report = await store.report(tenant, session)
  const readiness = judgeReadiness(fromJson(agent), { report, item, stdioMs }, now)
  if (readiness !== 'wait' && !readiness.stands) await store.remove(tenant, session)
  return readiness
}

/** A list may have changed since the session began. The worker's process runs on, and no turn has its tools. */
async function allowedServers(rules: Rules, tenant: string, agent: SessionAgent) {
  const servers = stdioServersOf(agent)
  const refusals = await Promise.all(
    servers.map(async (server) => rules.refusal(tenant, 'mcp_servers', namesOfServer(server))),
  )
  return servers.filter((_, index) => refusals[index] === undefined)
}

/** The tools of the worker's servers, in the order of the agent's servers: a prompt cache matches from the tools on. */
export async function ownTools(
  read: Reads,
  rules: Rules,
  { tenant, session }: SessionRef,
  agent: SessionAgent,
): Promise<Tool[]> {
  const own = await allowedServers(rules, tenant, agent)
  const report = own.length > 0 && (await stdioStore(read).report(tenant, session))
  if (!report) return []
  const room = toolRoom()
  const said = new Map(serversIn(report).map(({ name, tools }) => [name, tools ?? []]))
  return own.flatMap(({ name }) => {
    const listed = (said.get(name) ?? []).map(({ name, description, input_schema }) => ({
      name,
      inputSchema: input_schema,
      ...(description ? { description } : {}),
    }))
    return offerWorkerTools(name, listed, agent.tools, room)
  })
}
