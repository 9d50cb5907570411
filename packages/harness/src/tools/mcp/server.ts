/** An MCP server of a session: connected when needed, reconnected after a failure, with the tools that it lists. */
import type { McpErrorType } from '@steward/protocol/events.ts'
import type { GuardedFetch } from '../egress.ts'
import type { ToolResult } from '../tool.ts'
import { textResult } from '../tool.ts'
import type { CallToolResult, McpConnection, Listed } from './connection.ts'
import { connectMcp } from './connection.ts'
import { isAnswer, isBroken, isSessionLost, isTimeout, reasonOf, typeOf } from './failure.ts'
import { resultOf } from './results.ts'

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
type PeerOptions = McpEndpoint & {
  limits: McpLimits
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called when the list of tools has changed. */
  changed: () => void
  failed: (failure: ServerFailure) => unknown
}

const mostTools = 500
const interrupted = 'interrupted; the server was told, and may have run the call in part'

export function mcpPeer({ name, url, fetch, limits, sleep, changed, failed }: PeerOptions) {
  const closed = new AbortController()
  let connection: McpConnection | undefined
  let connecting: Promise<McpConnection | undefined> | undefined
  let listing: Promise<void> | undefined
  let isStale = false
  /** Undefined until the server has listed its tools, and again after a failed connection. */
  let listed: readonly Listed[] | undefined
  let lastFailure = ''
  const patience = { timeoutMs: limits.callMs, longestMs: limits.longestCallMs }
  const time = { sleep, ms: limits.discoveryMs, closed: closed.signal }

  function fail(error: unknown): void {
    if (closed.signal.aborted) return
    lastFailure = `the MCP server ${name} cannot be used: ${reasonOf(error)}`
    failed({ server: name, type: typeOf(error), message: lastFailure })
  }

  function setTools(tools: readonly Listed[]): void {
    listed = tools.slice(0, mostTools)
    if (tools.length > mostTools) fail(new Error(`only ${mostTools} of its ${tools.length} tools`))
    changed()
  }

  async function discover(): Promise<McpConnection | undefined> {
    let opened: McpConnection | undefined
    try {
      await within(time, async (signal) => {
        opened = await connectMcp({ url, fetch, signal, listChanged: relist })
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

  async function refresh(): Promise<void> {
    const from = connection ?? (await connecting)
    if (!from || from.isClosed()) return
    try {
      setTools(await within(time, (signal) => from.list(signal)))
    } catch (error) {
      fail(error)
    }
  }

  /** One listing at a time. A change during a listing causes another one. */
  function relist(): void {
    isStale = true
    listing ??= (async () => {
      while (isStale) {
        isStale = false
        await refresh()
      }
      listing = undefined
    })()
  }

  async function drop(old: McpConnection): Promise<void> {
    if (connection === old) connection = undefined
    await old.close()
  }

  return {
    name,
    connected,
    listed: () => listed ?? [],
    isListed: () => listed !== undefined,
    connecting: (): Promise<unknown> | undefined => connecting,
    /** The running listing after the server reported a change of its tools. */
    listing: (): Promise<unknown> | undefined => listing,
    async call(
      tool: string,
      input: Record<string, unknown>,
      { signal }: { signal: AbortSignal },
    ): Promise<ToolResult> {
      try {
        const answer = await asked({ connected, drop }, signal, (each) =>
          each.call(tool, input, { ...patience, signal: AbortSignal.any([signal, closed.signal]) }),
        )
        if (answer) return resultOf(answer)
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

/** A server that has forgotten its session ran nothing, so the call is repeated once on a new connection. */
async function asked(
  peer: {
    connected: () => Promise<McpConnection | undefined>
    drop: (old: McpConnection) => Promise<void>
  },
  signal: AbortSignal,
  ask: (connection: McpConnection) => Promise<CallToolResult>,
): Promise<CallToolResult | undefined> {
  const first = await peer.connected()
  if (!first) return undefined
  try {
    return await ask(first)
  } catch (error) {
    if (signal.aborted || !first.hasSession || !isSessionLost(error)) throw error
    await peer.drop(first)
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
  if (isAnswer(error)) return `answered with an error: ${reasonOf(error)}`
  if (isTimeout(error))
    return `gave no sign for ${callMs} ms, or no answer within ${longestCallMs} ms${maybe}`
  return `did not answer: ${reasonOf(error)}${isBroken(error) ? maybe : ''}`
}
