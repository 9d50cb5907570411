/** The MCP servers of a session, connected in parallel. Tools are offered when each server has listed them. */
import type { ToolEntry } from '@steward/protocol/tools.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { boundResult } from '../spill.ts'
import type { Tool } from '../tool.ts'
import { mayBelongTo } from './names.ts'
import type { ToolRoom } from './offer-tools.ts'
import { offerTools, toolRoom } from './offer-tools.ts'
import type { McpLimits, McpEndpoint, ServerFailure } from './server.ts'
import { mcpPeer, usualDiscoveryMs } from './server.ts'

export type { McpEndpoint, ServerFailure }

/** The tools may differ at each model request of a turn. No member throws or rejects. */
export interface McpServers {
  /** Starts to connect and returns at once. Call as early as possible in a turn. */
  begin(): void
  /**
   * Waits, in parallel, for each server whose tools are unknown, and for the servers of the `needed` tools. Known tools
   * are used at once, even while their server reconnects.
   */
  ready(options: { needed: readonly string[]; signal: AbortSignal }): Promise<void>
  /**
   * Ordered by names alone, because prompt caches match from the tools on. Returns the same array while nothing has
   * changed.
   */
  tools(): readonly Tool[]
  /** Failures since the last call. */
  failures(): ServerFailure[]
  /** Ends every connection. Running calls end with an error result. No connection is opened afterwards. */
  close(): Promise<void>
}

export const noServers: McpServers = {
  begin() {},
  ready: async () => {},
  tools: () => [],
  failures: () => [],
  close: async () => {},
}

export type McpServersOptions = Partial<McpLimits> & {
  /** The servers in the agent's order. */
  servers: readonly McpEndpoint[]
  /** The agent's tools, with all defaults filled in. */
  entries: readonly ToolEntry[]
  /** For results that are too long for the model. */
  sandbox: () => Promise<Sandbox>
  /** Resolves after the time, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Time for which a model request waits for a server's new list of tools. */
const relistMs = 1_000

export function mcpServers({
  servers,
  entries,
  sandbox,
  sleep,
  discoveryMs = usualDiscoveryMs,
  callMs = 120_000,
  longestCallMs = 600_000,
}: McpServersOptions): McpServers {
  let known: readonly Tool[] | undefined
  /** The last failure of each kind for each server: a server that fails repeatedly reports once. */
  const failures = new Map<string, ServerFailure>()
  const end = new AbortController()
  const peers = servers.map((server) =>
    mcpPeer({
      ...server,
      limits: { discoveryMs, callMs, longestCallMs },
      sleep,
      changed() {
        known = undefined
      },
      failed: (failure) => failures.set(`${failure.type} ${failure.server}`, failure),
    }),
  )

  function toolsOf(peer: (typeof peers)[number], room: ToolRoom): Tool[] {
    const { name } = peer
    const { leftOut } = room
    const all = peer.listed()
    const tools = offerTools(
      name,
      all,
      entries,
      async (tool, input, options) => boundResult(await peer.call(tool, input, options), sandbox),
      room,
    )
    const left = room.leftOut - leftOut
    if (left > 0) failures.set(`room ${name}`, withoutRoom(name, left, all.length))
    return tools
  }

  function offered(): readonly Tool[] {
    if (known) return known
    const room = toolRoom()
    known = peers.flatMap((peer) => toolsOf(peer, room))
    return known
  }

  return {
    begin() {
      if (end.signal.aborted) return
      for (const peer of peers) void peer.connected()
    },
    async ready({ needed, signal }) {
      const stop = new AbortController()
      const until = AbortSignal.any([signal, stop.signal])
      const interrupted = new Promise<void>((resolve) => {
        if (until.aborted) resolve()
        until.addEventListener('abort', () => resolve(), { once: true })
      })
      const isNeeded = (server: string) => needed.some((name) => mayBelongTo(name, server))
      const settled = peers.map(async (peer) => {
        if (!peer.isListed() || isNeeded(peer.name)) await peer.connecting()
        if (peer.listing()) await Promise.race([peer.listing(), sleep(relistMs, until)])
      })
      await Promise.race([Promise.all(settled), interrupted])
      stop.abort()
    },
    tools: offered,
    failures() {
      offered()
      const since = [...failures.values()]
      failures.clear()
      return since
    },
    async close() {
      end.abort()
      await Promise.all(peers.map((peer) => peer.close()))
    },
  }
}

const withoutRoom = (server: string, leftOut: number, all: number): ServerFailure => ({
  server,
  type: 'mcp_connection_failed_error',
  message: `the MCP server ${server} is used in part; left out are ${leftOut} of its ${all} tools, whose names and descriptions, with those of the tools before, are longer than 2 MiB`,
})
