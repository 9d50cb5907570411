/** The MCP server of a session, asked on behalf of a local child that knows only its name. */
import type { OutboundAnswer } from '@steward/gate/outbound.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { Seal } from '../../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../../ground/database/database.ts'
import type { Raw } from '../../../ground/http/route.ts'
import type { Forward } from '../inject/forward.ts'
import { without } from '../inject/headers.ts'
import { sealedTokens } from './inline.ts'
import type { OutboundContext, OutboundLease } from '../inject/context.ts'
import type { PinnedSession } from './store.ts'
import { pinned } from './store.ts'
import { fromJson } from '../../../ground/core/json-text.ts'
import type { Json } from '../../../ground/core/json-text.ts'

/** Connections of a session that nobody has asked by for so long are closed. */
const idleMs = 60_000
const mostParsed = 200

/** What the caller says to this service and not to the server. */
const ours = ['authorization', 'x-api-key', 'cookie']

type CachedOutbound = {
  context: OutboundContext
  /** The environment's, as it is stored. */
  record: Json<EnvironmentRecord>
  usedAt: number
  users: number
  isDropped: boolean
}

type ProxyRequest = { tenant: string; session: string; server: string; search: string }

export type McpProxy = ReturnType<typeof mcpProxy>

export function mcpProxy({
  databases,
  seal,
  clock,
  forward,
  openContext,
}: {
  databases: Databases
  seal: Seal
  clock: Clock
  forward: Forward
  openContext: (lease: OutboundLease) => OutboundContext
}) {
  const serversOf = serversIn()
  const held = new Map<string, CachedOutbound>()
  const sweep = setInterval(() => {
    for (const [key, { users, usedAt }] of held) {
      if (users === 0 && clock.now() - usedAt >= idleMs) drop(key)
    }
  }, idleMs / 2).unref()

  /** What is under way on it comes to its end. */
  function drop(key: string): void {
    const each = held.get(key)
    if (!each) return
    held.delete(key)
    each.isDropped = true
    if (each.users === 0) each.context.revoke()
  }

  /** The same one for as long as its environment stays what it is. */
  function hold(tenant: string, session: string, record: Json<EnvironmentRecord>): CachedOutbound {
    const key = `${tenant}/${session}`
    if (held.get(key)?.record !== record) drop(key)
    const known = held.get(key)
    if (known) return known
    const environment = fromJson(record)
    const context = openContext({ tenant, session, environment, generation: null })
    const fresh = { context, record, usedAt: 0, users: 0, isDropped: false }
    held.set(key, fresh)
    return fresh
  }

  function leave(each: CachedOutbound): void {
    each.users--
    each.usedAt = clock.now()
    if (each.isDropped && each.users === 0) each.context.revoke()
  }

  async function find(tenant: string, session: string, server: string) {
    const row = await pinned(await databases.open(tenant), tenant, session)
    if (!row) throw notFound('session', session)
    return { row, ...serverOf(serversOf(row), server) }
  }

  return {
    /** Throws as `ask` does for a server that there is not. */
    find,
    /** Throws not_found for what is not the tenant's, and `Refused` for what is not sent. */
    async ask(
      { tenant, session, server, search }: ProxyRequest,
      raw: Raw,
    ): Promise<OutboundAnswer> {
      const { row, url, name } = await find(tenant, session, server)
      const inline = sealedTokens(row).open(seal, name)
      const target = new URL(url)
      const named = new URL(url)
      if (search) target.search = target.search ? `${target.search}&${search}` : search
      const at = hold(tenant, session, row.record)
      at.users++
      try {
        const answer = await forward.forward(
          {
            method: raw.method,
            url: target,
            headers: without(raw.headers, ...ours),
            body: raw.body,
            signal: raw.signal,
          },
          at.context,
          { caller: 'http', server: name, namer: 'tenant', credentials: 'server', named, inline },
        )
        answer.body.once('close', () => leave(at))
        return answer
      } catch (error) {
        leave(at)
        throw error
      }
    },
    close(): void {
      clearInterval(sweep)
      for (const { context } of held.values()) context.revoke()
      held.clear()
    },
  }
}

/** Agents are large and calls are many: what was parsed last is kept beside its text. */
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
