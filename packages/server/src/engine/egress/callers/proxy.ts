/** The MCP proxy: asks a session's MCP server on behalf of a local process that knows only the server's name. */
import type { OutboundAnswer } from '@steward/gate/outbound.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import { createPool } from '@steward/base/pool.ts'
import type { RawRequest } from '../../../ground/http/route.ts'
import type { Forward } from '../inject/forward.ts'
import { dropHeaders } from '../inject/headers.ts'
import { sealedTokens } from './inline.ts'
import type { OutboundContext, OutboundLease } from '../inject/context.ts'
import type { PinnedSession } from './store.ts'
import { readPinnedSession } from './store.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Json } from '../../../ground/core/text/json-text.ts'
import type { Ground } from '../../../ground/ground.ts'

/** A session's connections are closed after this time without a call. */
const idleMs = 60_000
const mostParsed = 200

/** Headers for this service, which the MCP server does not get. */
const ours = ['authorization', 'x-api-key', 'cookie']

type ProxyContext = {
  context: OutboundContext
  /** The environment's record as it is stored. */
  record: Json<EnvironmentRecord>
}

type ProxyRequest = { tenant: string; session: string; server: string; search: string }

export type McpProxy = ReturnType<typeof mcpProxy>

export function mcpProxy({
  databases,
  seal,
  clock,
  log,
  forward,
  openContext,
}: Ground & {
  forward: Forward
  openContext: (lease: OutboundLease) => OutboundContext
}) {
  const serversOf = serversIn()
  const contexts = createPool<ProxyContext>({
    clock,
    idleMs,
    everyMs: idleMs / 2,
    close: ({ context }) => context.revoke(),
    fail: (error) => log.error('connections of the MCP proxy could not be closed', { error }),
  })

  /**
   * Returns the session's context while its environment is unchanged. A changed environment gets a new context, and
   * running calls finish in the old one.
   */
  function useContext(tenant: string, session: string, record: Json<EnvironmentRecord>) {
    const key = `${tenant}/${session}`
    if (contexts.get(key)?.record !== record) contexts.retire(key)
    return contexts.use(key, () => ({
      context: openContext({ tenant, session, environment: fromJson(record), generation: null }),
      record,
    }))
  }

  async function find(tenant: string, session: string, server: string) {
    const { read } = await databases.open(tenant)
    const row = await readPinnedSession(read, tenant, session)
    if (!row) throw notFound('session', session)
    return { row, ...serverOf(serversOf(row), server) }
  }

  return {
    /** Finds an MCP server of a session. Throws not_found when the tenant has no such session or server. */
    find,
    /** Forwards a request. Throws not_found like `find`, and `RequestRefused` for a call that was not sent. */
    async ask(
      { tenant, session, server, search }: ProxyRequest,
      raw: RawRequest,
    ): Promise<OutboundAnswer> {
      const { row, url, name } = await find(tenant, session, server)
      const inline = sealedTokens(row).open(seal, name)
      const target = new URL(url)
      const named = new URL(url)
      if (search) target.search = target.search ? `${target.search}&${search}` : search
      const { thing, leave } = useContext(tenant, session, row.record)
      try {
        const answer = await forward.forward(
          {
            method: raw.method,
            url: target,
            headers: dropHeaders(raw.headers, ...ours),
            body: raw.body,
            signal: raw.signal,
          },
          thing.context,
          { caller: 'http', server: name, namer: 'tenant', credentials: 'server', named, inline },
        )
        answer.body.once('close', leave)
        return answer
      } catch (error) {
        leave()
        throw error
      }
    },
    close: contexts.close,
  }
}

/** Keeps the parsed servers beside the agent's text: agents are large and calls are frequent. */
function serversIn(): (row: PinnedSession) => SessionAgent['mcp_servers'] {
  const parsed = new Map<string, { text: string; servers: SessionAgent['mcp_servers'] }>()
  return ({ id, agent: text }) => {
    const known = parsed.get(id)
    if (known?.text === text) return known.servers
    const { mcp_servers: servers } = fromJson(text)
    if (parsed.size >= mostParsed) parsed.clear()
    parsed.set(id, { text, servers })
    return servers
  }
}

function serverOf(
  servers: SessionAgent['mcp_servers'],
  name: string,
): { name: string; url: string } {
  const server = servers.find((each) => each.name === name)
  if (!server) throw notFound('MCP server', name)
  if (!server.url) {
    throw invalid(
      `url is required: the MCP server ${name} has none, and this service runs no stdio servers`,
    )
  }
  return { name, url: server.url }
}
