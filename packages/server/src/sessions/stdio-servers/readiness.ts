/** Decides whether a turn can begin, given the stdio servers that the session's worker starts. [mcp/stdio/waits] */
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { LogEntry } from '../log/log.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'

type ServersOfAgent = Pick<SessionAgent, 'mcp_servers'>
type StdioReport = Pick<Tables['stdio_reports'], 'work_id' | 'generation' | 'servers'>
type ClaimedItem = Pick<Tables['work'], 'id' | 'generation' | 'reserved_ms'>

/** Time for the worker's own start before it starts a server, and for listing the tools afterwards. */
export const marginMs = 30_000

/** The servers without a URL: a worker starts them. */
export const stdioServersOf = ({ mcp_servers }: ServersOfAgent) =>
  mcp_servers.filter(({ url }) => !url)

/** The head's columns about the agent's MCP servers. `stdio_ms` is null when a worker starts none. */
export function serversOfHead(agent: ServersOfAgent): {
  stdio_ms: number | null
  url_servers: 0 | 1
} {
  const limits = stdioServersOf(agent).map(({ stdio }) => stdio?.ready_timeout_ms ?? 0)
  return {
    stdio_ms: limits.length > 0 ? Math.max(...limits) : null,
    url_servers: agent.mcp_servers.some(({ url }) => url) ? 1 : 0,
  }
}

export type StdioFailure = { server: string; message: string }

export const stdioError = ({ server, message }: StdioFailure): LogEntry => ({
  event: {
    id: newId('event'),
    type: 'session.error',
    error: {
      type: 'mcp_connection_failed_error',
      mcp_server_name: server,
      message,
      retry_status: { type: 'retrying' },
    },
  },
})

/** `begin`: start the turn. `stands`: the report is of the current claim. `failures`: the servers that are missing. */
export type StdioReadiness = 'wait' | { begin: true; stands: boolean; failures: StdioFailure[] }

/**
 * A report counts only for the claim that made it. Without a report the turn waits for the worker that holds the claim,
 * up to the time limit. It begins at once when no worker holds the session.
 */
export function judgeReadiness(
  agent: ServersOfAgent,
  {
    report,
    item,
    stdioMs,
  }: { report?: StdioReport | undefined; item?: ClaimedItem | undefined; stdioMs: number },
  now: number,
): StdioReadiness {
  const stands = report?.work_id === item?.id && report?.generation === item?.generation
  if (report && stands) return { begin: true, stands, failures: failuresIn(agent, report) }
  if (item && (item.reserved_ms === null || now < item.reserved_ms + stdioMs + marginMs))
    return 'wait'
  const why = item
    ? `whoever has this session has not said within ${(stdioMs + marginMs) / 1000} seconds that it was started`
    : 'nobody has this session'
  return {
    begin: true,
    stands: false,
    failures: stdioServersOf(agent).map((each) => failureOf(each, why)),
  }
}

function failuresIn(agent: ServersOfAgent, report: StdioReport): StdioFailure[] {
  const said = new Map(serversIn(report).map((server) => [server.name, server]))
  return stdioServersOf(agent).flatMap((server) => {
    const found = said.get(server.name)
    if (!found) return [failureOf(server, 'the worker of this session does not know of it')]
    return found.tools === null ? [{ server: server.name, message: found.error ?? '' }] : []
  })
}

export const serversIn = ({ servers }: StdioReport): StdioServer[] => fromJson(servers)

const failureOf = ({ name }: { name: string }, why: string): StdioFailure => ({
  server: name,
  message: `the MCP server ${name} cannot be used: ${why}`,
})
