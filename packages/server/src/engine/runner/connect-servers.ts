/** Connects a turn to the MCP servers of its session. Every call leaves through the egress of the session. */
import type { GuardedFetch } from '@steward/harness/tools/fetch.ts'
import type { McpServers, ServerFailure } from '@steward/harness/tools/mcp/servers.ts'
import { mcpServers, noServers } from '@steward/harness/tools/mcp/servers.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { Clock } from '@steward/base/time.ts'
import { paceAnswers } from '../egress/callers/paced-answers.ts'
import type { SandboxPool } from './sandboxes/sandbox-pool.ts'

type ConnectContext = {
  tenant: string
  agent: SessionAgent
  environment: EnvironmentRecord
  /** SECRET: never logged. Inline bearers by server name. */
  tokens: Readonly<Record<string, string>>
  /**
   * The sealed tokens as the session's row stores them. The text differs when a token differs, so it is part of the
   * connections' key.
   */
  sealedTokens: string | null
  space: ReturnType<SandboxPool['use']>
  clock: Clock
  /** The trace context of the turn that makes the call. */
  traceparent: () => string | undefined
}

export function connectServers(connecting: ConnectContext): McpServers {
  const { tenant, agent, environment, tokens, sealedTokens, space, clock, traceparent } = connecting
  const { mcp_servers, tools } = agent
  const isRefused = environment.limited && !environment.allow_mcp_servers
  if (mcp_servers.length === 0 || isRefused) {
    space.disconnect()
    return mcp_servers.length === 0 ? noServers : refusedServers(mcp_servers.map(nameOf))
  }
  const toolsets = tools.filter(({ type }) => type === 'mcp_toolset')
  const key = JSON.stringify([mcp_servers, toolsets, sealedTokens])
  const servers = space.servers(key, (sandbox) =>
    mcpServers({
      servers: mcp_servers.flatMap(({ name, url }) =>
        url
          ? [
              {
                name,
                url,
                fetch: traced(
                  paceAnswers(
                    tenant,
                    space.egress.mcpFetch({ name, url, authorization_token: tokens[name] }),
                  ),
                  traceparent,
                ),
              },
            ]
          : [],
      ),
      entries: tools,
      sandbox,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    }),
  )
  return { ...servers, ready: (needed) => space.whileConnecting(servers.ready(needed)) }
}

function traced(fetch: GuardedFetch, traceparent: () => string | undefined): GuardedFetch {
  return (input, init) => {
    const parent = traceparent()
    if (parent === undefined) return fetch(input, init)
    const headers = new Headers(init?.headers)
    headers.set('traceparent', parent)
    return fetch(input, { ...init, headers })
  }
}

const nameOf = ({ name }: { name: string }): string => name

/**
 * The servers of a limited environment that does not allow MCP servers: never contacted, reported as failed in each
 * turn.
 */
function refusedServers(names: readonly string[]): McpServers {
  let failures: ServerFailure[] = names.map((server) => ({
    server,
    type: 'mcp_connection_failed_error',
    message: `the MCP server ${server} was not contacted: the environment limits the network and does not set allow_mcp_servers`,
  }))
  return {
    ...noServers,
    failures() {
      const since = failures
      failures = []
      return since
    },
  }
}
