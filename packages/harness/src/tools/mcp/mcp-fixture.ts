/** For tests: real MCP servers over real sockets. */
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  McpServer,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
} from '@modelcontextprotocol/server'
import type { Transport } from '@modelcontextprotocol/server'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'
import type { Tool, ToolResult } from '../tool.ts'
import type { McpServers, McpServersOptions } from './servers.ts'
import { mcpServers } from './servers.ts'

export type PeerAnswer = (request: Request) => Response | Promise<Response>
export type TestPeer = AsyncDisposable & { url: string; seen: string[]; open: () => number }

/**
 * An HTTP server on loopback. `seen`: one word for each request. `open`: the number of requests without a complete
 * answer.
 */
export async function httpPeer(answer: PeerAnswer): Promise<TestPeer> {
  const seen: string[] = []
  let open = 0
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    open++
    outgoing.on('close', () => open--)
    serveAnswer(answer, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers one request with the web's types. Rejects when either side disconnects. */
export async function serveAnswer(
  answer: PeerAnswer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value))
  const hasBody = incoming.method === 'POST'
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers,
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
  })
  const response = await answer(request)
  outgoing.statusMessage = response.statusText
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing)
  else outgoing.end()
}

/** A server with one tool that returns its input. */
export function echoServer(extend: (server: McpServer) => void = () => {}): McpServer {
  const server = new McpServer(
    { name: 'echo', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.registerTool(
    'echo',
    { description: 'says it back', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  extend(server)
  return server
}

export type Streamable = {
  answer: PeerAnswer
  /** Forgets every session, like a restarted server. */
  forget(): void
  servers: McpServer[]
}

/** Streamable HTTP with sessions. `before` may answer instead. */
export function streamableHttp(
  make: () => McpServer,
  before: (request: Request, message: unknown) => Response | Promise<Response> | undefined = () =>
    undefined,
): Streamable {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const servers: McpServer[] = []
  async function answer(request: Request): Promise<Response> {
    const parsedBody: unknown = request.method === 'POST' ? await request.json() : undefined
    const early = before(request, parsedBody)
    if (early) return early
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    if (id !== null && !known) return new Response('no such session', { status: 404 })
    const transport = known ?? (await begin())
    return transport.handleRequest(request, { parsedBody })
  }
  async function begin(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    })
    const server = make()
    servers.push(server)
    await server.connect(transport)
    return transport
  }
  return { answer, servers, forget: () => sessions.clear() }
}

export async function streamablePeer(
  ...made: Parameters<typeof streamableHttp>
): Promise<TestPeer & Streamable> {
  const server = streamableHttp(...made)
  return { ...(await httpPeer(server.answer)), ...server }
}

/** A server with only the newest revision, which has no handshake. */
export function modernPeer(make: () => McpServer): Promise<TestPeer> {
  const handler = createMcpHandler(make, { legacy: 'reject' })
  return httpPeer((request) => handler.fetch(request))
}

/** A server with only the transport of 2024: an event stream, and posts beside it. */
export const ssePeer = (make: () => McpServer): Promise<TestPeer> => httpPeer(ofEvents(make))

export function ofEvents(make: () => McpServer): PeerAnswer {
  const open = new Map<string, Transport>()
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/mcp' && request.method === 'GET') {
      const id = crypto.randomUUID()
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const say = (event: string, data: string) =>
        writer.write(Buffer.from(`event: ${event}\ndata: ${data}\n\n`)).catch(() => undefined)
      const transport: Transport = {
        start: async () => {},
        send: async (message) => void say('message', JSON.stringify(message)),
        close: () => writer.close().catch(() => undefined),
      }
      open.set(id, transport)
      void say('endpoint', `/messages?id=${id}`)
      await make().connect(transport)
      return new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
    }
    if (pathname !== '/messages') return new Response('not here', { status: 404 })
    const message: unknown = await request.json()
    open.get(searchParams.get('id') ?? '')?.onmessage?.(message as never)
    return new Response(null, { status: 202 })
  }
}

const sleep: McpServersOptions['sleep'] = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
  })

const plain = {
  entries: [],
  sandbox: () => Promise.reject(new SandboxEnded('there is none')),
  sleep,
  discoveryMs: 5_000,
}

export const neverAborted = new AbortController().signal

type OpenedServers = McpServers & AsyncDisposable
export function openServers(
  urls: Record<string, string>,
  more: Partial<McpServersOptions> = {},
): OpenedServers {
  const servers = Object.entries(urls).map(([name, url]) => ({ name, url, fetch }))
  const opened = mcpServers({ ...plain, servers, ...more })
  opened.begin()
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

export const awaitServers = (servers: McpServers, needed: string[] = []) =>
  servers.ready({ needed, signal: neverAborted })

export function findTool(servers: McpServers, name: string): Tool {
  const tool = servers.tools().find((each) => each.name === name)
  assert.ok(
    tool,
    `${name} is not among ${servers
      .tools()
      .map((each) => each.name)
      .join(', ')}`,
  )
  return tool
}

export const callServerTool = (
  servers: McpServers,
  name: string,
  input: Record<string, unknown> = {},
  signal = neverAborted,
): Promise<ToolResult> => findTool(servers, name).run(input, { signal })

export const textOf = ({ content }: ToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')

/** The official client with this bearer token. Disposing it ends its session. */
export async function mcpClient(url: string, bearer: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'a local child', version: '1.0.0' })
  const headers = { authorization: `Bearer ${bearer}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      await transport.terminateSession()
      await client.close()
    },
  })
}
