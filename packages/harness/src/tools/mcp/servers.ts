/** The MCP servers of a session: connected side by side, their tools offered when each has listed them. */
import type { ToolEntry } from '@steward/protocol/tools.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { bounded } from '../spill.ts'
import type { Tool } from '../tool.ts'
import { mayBeOf } from './names.ts'
import { offered } from './offered.ts'
import type { McpLimits, McpEndpoint, ServerFailure } from './server.ts'
import { mcpPeer } from './server.ts'

export type { McpEndpoint, ServerFailure }

/** Tools that may be others at each model request of a turn. None of the members throws or rejects. */
export interface McpServers {
  /** Connects what is not connected, and returns at once; to be called as early as a turn is known of. */
  begin(): void
  /**
   * Waits for the discovery of each server whose tools are not known, all at once, and of the servers of the tools that
   * are `needed`. Tools that are known are used at once, while their server is connected again.
   */
  ready(options: { needed: readonly string[]; signal: AbortSignal }): Promise<void>
  /** In an order that depends on names alone: prompt caches begin with tools. The same array while nothing changed. */
  tools(): readonly Tool[]
  /** What has gone wrong since it was last asked. */
  failures(): ServerFailure[]
  /** Ends every connection; calls that run end with an error result. Nothing is connected afterwards. */
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
  /** In the agent's order. */
  servers: readonly McpEndpoint[]
  /** The agent's tools, every choice spelled out. */
  entries: readonly ToolEntry[]
  /** For results that are too long for the model. */
  sandbox: () => Promise<Sandbox>
  /** Resolves after the time, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** What a model request waits for the list of a server that has said that its tools are others. */
const relistMs = 1_000

export function mcpServers({
  servers,
  entries,
  sandbox,
  sleep,
  discoveryMs = 15_000,
  callMs = 120_000,
  longestCallMs = 600_000,
}: McpServersOptions): McpServers {
  let known: readonly Tool[] | undefined
  /** The last of each kind of each server: one that fails again and again says so once. */
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

  const toolsOf = (peer: (typeof peers)[number]): Tool[] =>
    offered(peer.name, peer.listed(), entries, async (tool, input, options) =>
      bounded(await peer.call(tool, input, options), sandbox),
    )

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
      const isNeeded = (server: string) => needed.some((name) => mayBeOf(name, server))
      const settled = peers.map(async (peer) => {
        if (!peer.isListed() || isNeeded(peer.name)) await peer.connecting()
        if (peer.listing()) await Promise.race([peer.listing(), sleep(relistMs, until)])
      })
      await Promise.race([Promise.all(settled), interrupted])
      stop.abort()
    },
    tools: () => (known ??= peers.flatMap(toolsOf)),
    failures() {
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
