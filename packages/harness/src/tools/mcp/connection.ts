/** A connection to one MCP server: its tools and their calls. */
import type { Client } from '@modelcontextprotocol/client'
import type * as library from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { GuardedFetch } from '../egress.ts'
import { isAnswer, isMissed, isModernOnly } from './failure.ts'
import type { JsonMembers } from './fit-message.ts'
import type { ToolListing } from './fit-tools.ts'
import { listTools } from './list-tools.ts'
import { callScope, wireFetch } from './wire.ts'

type McpLibrary = typeof library

export type McpConnection = {
  /** Lists the tools of all pages. */
  list(signal: AbortSignal): Promise<ToolListing>
  /** Rejects when there is no answer. After an abort the server is told of the cancellation. */
  call(
    name: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; longestMs: number },
  ): Promise<JsonMembers>
  /** True when the server has a session that can be ended. */
  hasSession: boolean
  isClosed(): boolean
  /** Ends the session with a short time limit. Never rejects. */
  close(): Promise<void>
  /** Closes the connection when no call runs any more. */
  retire(): void
}

type ConnectionOptions = {
  url: string
  fetch: GuardedFetch
  signal: AbortSignal
  listChanged: () => void
}
type McpTransport = 'streamable' | 'modern' | 'sse'

const farewellMs = 2_000
/** Milliseconds from the end of a stream until it is opened again, whatever the server asks for. */
const [leastPauseMs, mostPauseMs] = [1_000, 30_000]

/** Attack: a server can end each stream at once and ask for the next one at once, for as long as it is connected. */
function reconnectionScheduler(reconnect: () => void, askedMs: number): () => void {
  const pauseMs = Math.min(Math.max(askedMs, leastPauseMs), mostPauseMs)
  const timer = setTimeout(reconnect, pauseMs).unref()
  return () => clearTimeout(timer)
}

const loadLibrary = (): Promise<McpLibrary> => import('@modelcontextprotocol/client')

/** Loads the library ahead of time, so that the first connection need not wait for it. */
export async function preloadMcp(): Promise<void> {
  await loadLibrary()
}

/**
 * Connects over streamable HTTP, or over the older transport when the server knows no other. Rejects when neither
 * works.
 */
export async function connectMcp(options: ConnectionOptions): Promise<McpConnection> {
  const library = await loadLibrary()
  try {
    return await open(library, 'streamable', options)
  } catch (error) {
    if (isModernOnly(error)) return await open(library, 'modern', options)
    if (!isMissed(error)) throw error
    try {
      return await open(library, 'sse', options)
    } catch (later) {
      // When the server has neither transport, the first error describes it best.
      throw isMissed(later) ? error : later
    }
  }
}

async function open(
  library: McpLibrary,
  kind: McpTransport,
  { url, fetch, signal, listChanged }: ConnectionOptions,
): Promise<McpConnection> {
  const through = { fetch: wireFetch(fetch, kind !== 'sse') }
  const client = newClient(library, kind, listChanged)
  const at = new URL(url)
  const streamable =
    kind === 'sse'
      ? undefined
      : new library.StreamableHTTPClientTransport(at, { ...through, reconnectionScheduler })
  const transport = streamable ?? new library.SSEClientTransport(at, through)
  let isClosed = false
  client.onclose = () => {
    isClosed = true
  }
  client.onerror = (error) => {
    // The older transport would reconnect by itself, to a session that does not know this one.
    if (library.SseError.isInstance(error)) void client.close()
  }
  try {
    // A transport that waits for its server ignores the signal of a request.
    await Promise.race([client.connect(transport, { signal }), aborted(signal)])
  } catch (error) {
    await client.close()
    throw error
  }
  let running = 0
  let isRetired = false
  async function close(): Promise<void> {
    if (isClosed) return
    const late = AbortSignal.timeout(farewellMs)
    const told = streamable?.terminateSession().catch(() => undefined)
    await Promise.race([told, aborted(late).catch(() => undefined)])
    await client.close()
  }
  const closeWhenIdle = () => void (isRetired && running === 0 && close())
  return {
    list: (until) => list(client, until),
    async call(name, input, until) {
      running++
      try {
        return await call(client, name, input, until)
      } finally {
        running--
        closeWhenIdle()
      }
    },
    hasSession: streamable?.sessionId !== undefined,
    isClosed: () => isClosed,
    close,
    retire() {
      isRetired = true
      closeWhenIdle()
    },
  }
}

/** The library's own schemas refuse a whole list or result for one part. */
const Page = z.looseObject({
  tools: z.unknown().optional(),
  nextCursor: z.unknown().optional(),
})
const Result = z.record(z.string(), z.unknown())

/** A server that does not announce tools is asked too, as it may have written null for what it has. */
async function list(client: Client, signal: AbortSignal): Promise<ToolListing> {
  const isAnnounced = client.getServerCapabilities()?.tools !== undefined
  const ask = (cursor: string | undefined) =>
    client.request(
      { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) },
      Page,
      { signal },
    )
  const none = { tools: [], leftOut: ['all (it announces none)'] }
  try {
    const listing = await listTools(ask, signal)
    return isAnnounced || listing.tools.length > 0 ? listing : none
  } catch (error) {
    if (isAnnounced || !isAnswer(error)) throw error
    return none
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })

function newClient(library: McpLibrary, kind: McpTransport, listChanged: () => void): Client {
  return new library.Client(
    { name: 'steward', version: '0.1.0' },
    {
      // The client offers nothing to servers: requests for input, samples or roots are refused.
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: kind === 'modern' ? 'auto' : 'legacy' },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listChanged() },
      },
    },
  )
}

async function call(
  client: Client,
  name: string,
  input: Record<string, unknown>,
  options: { signal: AbortSignal; timeoutMs: number; longestMs: number },
): Promise<JsonMembers> {
  const { signal, timeoutMs, longestMs } = options
  const over = new AbortController()
  try {
    return await callScope.run(over.signal, () =>
      client.request({ method: 'tools/call', params: { name, arguments: input } }, Result, {
        signal,
        timeout: timeoutMs,
        maxTotalTimeout: longestMs,
        resetTimeoutOnProgress: true,
        onprogress: () => {},
      }),
    )
  } finally {
    over.abort()
  }
}
