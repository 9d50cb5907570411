/** A connection to one MCP server: its tools and their calls. */
import type { CallToolResult, Client, Tool as Listed } from '@modelcontextprotocol/client'
import type * as library from '@modelcontextprotocol/client'
import type { GuardedFetch } from '../egress.ts'
import { isMissed, isModernOnly } from './failure.ts'
import { callScope, wireFetch } from './wire.ts'

type McpLibrary = typeof library
export type { CallToolResult, Listed }

export type McpConnection = {
  /** Lists the tools of all pages. */
  list(signal: AbortSignal): Promise<Listed[]>
  /** Rejects when there is no answer. After an abort the server is told of the cancellation. */
  call(
    name: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; longestMs: number },
  ): Promise<CallToolResult>
  /** True when the server has a session that can be ended. */
  hasSession: boolean
  isClosed(): boolean
  /** Ends the session with a short time limit. Never rejects. */
  close(): Promise<void>
}

type ConnectionOptions = {
  url: string
  fetch: GuardedFetch
  signal: AbortSignal
  listChanged: () => void
}
type McpTransport = 'streamable' | 'modern' | 'sse'

const farewellMs = 2_000

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
  const through = { fetch: wireFetch(fetch) }
  const client = newClient(library, kind, listChanged)
  const at = new URL(url)
  const streamable =
    kind === 'sse' ? undefined : new library.StreamableHTTPClientTransport(at, through)
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
  return {
    list: async (until) => (await client.listTools(undefined, { signal: until })).tools,
    call: (name, input, until) => call(client, name, input, until),
    hasSession: streamable?.sessionId !== undefined,
    isClosed: () => isClosed,
    async close() {
      if (isClosed) return
      const late = AbortSignal.timeout(farewellMs)
      const told = streamable?.terminateSession().catch(() => undefined)
      await Promise.race([told, aborted(late).catch(() => undefined)])
      await client.close()
    },
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
      // A server's own JSON schemas are not run here, because a pattern may run for ever.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({
          valid: true,
          data: data as never,
          errorMessage: undefined,
        }),
      },
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
): Promise<CallToolResult> {
  const { signal, timeoutMs, longestMs } = options
  const over = new AbortController()
  try {
    return await callScope.run(over.signal, () =>
      client.callTool(
        { name, arguments: input },
        {
          signal,
          timeout: timeoutMs,
          maxTotalTimeout: longestMs,
          resetTimeoutOnProgress: true,
          onprogress: () => {},
          toolDefinition: { name, inputSchema: { type: 'object' } },
        },
      ),
    )
  } finally {
    over.abort()
  }
}
