/** An MCP server of a session: connected when needed, reconnected after a failure, with the tools that it lists. */
import { runAgain } from '@steward/base/shared-runs.ts'
import type { McpErrorType } from '@steward/protocol/events.ts'
import type { GuardedFetch } from '../egress.ts'
import type { ToolResult } from '../tool.ts'
import { textResult } from '../tool.ts'
import type { McpConnection } from './connection.ts'
import { connectMcp } from './connection.ts'
import {
  hasStatus,
  isAnswer,
  isBroken,
  isSessionLost,
  isTimeout,
  describeMcpFailure,
  mcpErrorType,
} from './failure.ts'
import type { JsonMembers } from './fit-message.ts'
import type { ToolListing } from './fit-tools.ts'
import type { ListedTool } from './listed-tool.ts'
import { readMcpResult } from './results.ts'

/** `fetch` adds the server's credential. */
export type McpEndpoint = { name: string; url: string; fetch: GuardedFetch }
export type ServerFailure = { server: string; type: McpErrorType; message: string }

export type McpLimits = {
  /** Time for connecting and listing together. */
  discoveryMs: number
  /** Longest silence of a call. */
  callMs: number
  longestCallMs: number
}
/** Time for connecting and listing together. [limits/mcp-discovery] */
export const usualDiscoveryMs = 15_000
type PeerOptions = McpEndpoint & {
  limits: McpLimits
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called when the list of tools has changed. */
  changed: () => void
  failed: (failure: ServerFailure) => unknown
}

/** Attack: a server can say without an end that its tools have changed. */
const relistPauseMs = 1_000

const interrupted = 'interrupted; the server was told, and may have run the call in part'

export function mcpPeer({ name, url, fetch, limits, sleep, changed, failed }: PeerOptions) {
  const closed = new AbortController()
  let connection: McpConnection | undefined
  let connecting: Promise<McpConnection | undefined> | undefined
  /** Undefined until the server has listed its tools, and again after a failed connection. */
  let listed: readonly ListedTool[] | undefined
  let lastFailure = ''
  let relistedAt = -Infinity
  const patience = { timeoutMs: limits.callMs, longestMs: limits.longestCallMs }
  const time = { sleep, ms: limits.discoveryMs, closed: closed.signal }

  function fail(error: unknown): void {
    if (closed.signal.aborted) return
    lastFailure = `the MCP server ${name} cannot be used: ${describeMcpFailure(error)}`
    failed({ server: name, type: mcpErrorType(error), message: lastFailure })
  }

  function setTools(listing: ToolListing): void {
    listed = listing.tools
    const message = `the MCP server ${name} is used in part; left out of its tools: ${listing.leftOut.join(', ')}`
    if (listing.leftOut.length > 0)
      failed({ server: name, type: 'mcp_connection_failed_error', message })
    changed()
  }

  async function discover(): Promise<McpConnection | undefined> {
    let opened: McpConnection | undefined
    try {
      await within(time, async (signal) => {
        opened = await connectMcp({ url, fetch, signal, listChanged: () => void relist() })
        setTools(await opened.list(signal))
      })
      connection = opened
      return opened
    } catch (error) {
      await opened?.close()
      listed = undefined
      changed()
      fail(error)
      return undefined
    }
  }

  /** The open connection, or a new one; undefined when the server cannot be reached. */
  function connected(): Promise<McpConnection | undefined> {
    if (closed.signal.aborted) return Promise.resolve(undefined)
    if (connection && !connection.isClosed()) return Promise.resolve(connection)
    connecting ??= discover().finally(() => {
      connecting = undefined
    })
    return connecting
  }

  /** One listing at a time. A change during a listing causes another one, after a pause. */
  const relist = runAgain(async () => {
    const sinceMs = performance.now() - relistedAt
    if (sinceMs < relistPauseMs) await sleep(relistPauseMs - sinceMs, closed.signal)
    const from = connection ?? (await connecting)
    if (!from || from.isClosed()) return
    relistedAt = performance.now()
    try {
      setTools(await within(time, (signal) => from.list(signal)))
    } catch (error) {
      fail(error)
    }
  })

  function forget(old: McpConnection): void {
    if (connection === old) connection = undefined
  }

  return {
    name,
    connected,
    listed: () => listed ?? [],
    isListed: () => listed !== undefined,
    connecting: (): Promise<unknown> | undefined => connecting,
    /** The running listing after the server reported a change of its tools. */
    listing: (): Promise<unknown> | undefined => relist.current(),
    async call(
      tool: string,
      input: Record<string, unknown>,
      { signal }: { signal: AbortSignal },
    ): Promise<ToolResult> {
      try {
        const answer = await asked({ connected, forget }, signal, (each) =>
          each.call(tool, input, { ...patience, signal: AbortSignal.any([signal, closed.signal]) }),
        )
        if (answer) return readMcpResult(answer)
        const why = closed.signal.aborted ? 'the session has ended' : lastFailure
        return textResult(`${why}; nothing was run`, true)
      } catch (error) {
        if (signal.aborted || closed.signal.aborted) return textResult(interrupted, true)
        if (!isAnswer(error) && !isTimeout(error)) fail(error)
        return textResult(`the MCP server ${name} ${whatItDid(error, limits)}`, true)
      }
    },
    async close(): Promise<void> {
      closed.abort(new Error('the session has ended'))
      await connecting
      await connection?.close()
    },
  }
}

/**
 * A server that has forgotten its session ran nothing, so the call is repeated once on a new connection. Some servers say
 * so by another status: such a call is not repeated, and the next one begins a new session.
 */
async function asked(
  peer: {
    connected: () => Promise<McpConnection | undefined>
    forget: (old: McpConnection) => void
  },
  signal: AbortSignal,
  ask: (connection: McpConnection) => Promise<JsonMembers>,
): Promise<JsonMembers | undefined> {
  const first = await peer.connected()
  if (!first) return undefined
  try {
    return await ask(first)
  } catch (error) {
    if (signal.aborted || !first.hasSession || !hasStatus(error)) throw error
    peer.forget(first)
    if (!isSessionLost(error)) {
      // Calls that run beside this one go on.
      first.retire()
      throw error
    }
    await first.close()
    const second = await peer.connected()
    return second && (await ask(second))
  }
}

/** Gives an answer up after `ms`. */
async function within<T>(
  { sleep, ms, closed }: Pick<PeerOptions, 'sleep'> & { ms: number; closed: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, done] = [new AbortController(), new AbortController()]
  void sleep(ms, done.signal).then(() => {
    if (!done.signal.aborted) late.abort(new Error(`it did not answer within ${ms} ms`))
  })
  try {
    return await work(AbortSignal.any([late.signal, closed]))
  } finally {
    done.abort()
  }
}

function whatItDid(error: unknown, { callMs, longestCallMs }: McpLimits): string {
  const maybe = '; it may have run the call in part or whole'
  if (isAnswer(error)) return `answered with an error: ${describeMcpFailure(error)}`
  if (isTimeout(error))
    return `gave no sign for ${callMs} ms, or no answer within ${longestCallMs} ms${maybe}`
  return `did not answer: ${describeMcpFailure(error)}${isBroken(error) ? maybe : ''}`
}
