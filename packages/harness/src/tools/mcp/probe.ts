/** Connects to one MCP server, lists its tools and leaves. */
import type { ListedTool } from './listed-tool.ts'
import type { McpEndpoint, ServerFailure } from './server.ts'
import { mcpPeer, usualDiscoveryMs } from './server.ts'

/** `failures`: why it could not be used, or, with tools, what of them was left out. */
export type McpProbe = {
  isConnected: boolean
  tools: readonly ListedTool[]
  failures: readonly ServerFailure[]
}

type ProbeOptions = {
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  signal: AbortSignal
  discoveryMs?: number
}

/** Never rejects. Ends early, without a failure, when the signal aborts. */
export async function probeMcp(
  endpoint: McpEndpoint,
  { sleep, signal, discoveryMs = usualDiscoveryMs }: ProbeOptions,
): Promise<McpProbe> {
  const failures: ServerFailure[] = []
  const peer = mcpPeer({
    ...endpoint,
    limits: { discoveryMs, callMs: discoveryMs, longestCallMs: discoveryMs },
    sleep,
    changed() {},
    failed: (failure) => failures.push(failure),
  })
  const leave = () => void peer.close()
  signal.addEventListener('abort', leave, { once: true })
  try {
    const isConnected = !signal.aborted && (await peer.connected()) !== undefined
    return { isConnected, tools: peer.listed(), failures }
  } finally {
    signal.removeEventListener('abort', leave)
    await peer.close()
  }
}
