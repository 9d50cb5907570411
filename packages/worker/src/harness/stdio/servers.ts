/**
 * The stdio MCP servers of a session. They run in its sandbox; their tools are reported to the service and run here.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { runAgain } from '@steward/base/shared-runs.ts'
import type Anthropic from '@anthropic-ai/sdk'
import type { ListedTool } from '@steward/harness/tools/mcp/listed-tool.ts'
import { longestDescription } from '@steward/harness/tools/mcp/listed-tool.ts'
import { offerTools } from '@steward/harness/tools/mcp/offer-tools.ts'
import { mcpPeer } from '@steward/harness/tools/mcp/server.ts'
import { boundResult } from '@steward/harness/tools/spill.ts'
import type { Tool } from '@steward/harness/tools/tool.ts'
import { textResult } from '@steward/harness/tools/tool.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'
import { createChild } from './child.ts'
import { atUsualPath, portFetch } from './port-fetch.ts'

type ServerSession = Awaited<ReturnType<Anthropic['beta']['sessions']['retrieve']>>

export type StdioServers = {
  /** Starts all servers, reports them to the service, and returns their tools. Rejects when the report fails. */
  begin(): Promise<Tool[]>
}

export type StdioServersOptions = {
  client: Anthropic
  session: ServerSession
  open: () => Promise<Sandbox>
  /** Aborts when the servers must end. */
  closed: AbortSignal
  /** Called for each server once it is known whether the server started. */
  came: (server: string, isUp: boolean) => void
}

const limits = { discoveryMs: 15_000, callMs: 120_000, longestCallMs: 600_000 }
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {})

/** Largest size of all tools in bytes, a little below the service's limit. */
const mostBytes = 1_000_000
const longestName = 256
const longestShownName = 80
/** A little below the service's limit for a whole report. */
const deepestSchema = 240
const longestError = 2_000

const Declarations = z.array(
  z.looseObject({
    name: z.string(),
    url: z.string().nullish(),
    stdio: z
      .looseObject({
        command: z.string(),
        args: z.array(z.string()).optional(),
        env: z.record(z.string(), z.string()).optional(),
        port: z.number(),
        ready_timeout_ms: z.number(),
      })
      .nullish(),
  }),
)

export function createStdioServers({
  client,
  session,
  open,
  closed,
  came,
}: StdioServersOptions): StdioServers {
  const found = Declarations.parse(session.agent.mcp_servers).flatMap(({ name, url, stdio }) =>
    stdio && !url ? [serverOf(name, stdio)] : [],
  )
  /** Names of the tools that can run. The client accepts no further names once it has begun. */
  const known = new Set<string>()
  let hasBegun = false

  function serverOf(name: string, declared: Parameters<typeof createChild>[1]) {
    const child = createChild(open, declared, closed)
    const state = { error: undefined as string | undefined, tools: [] as ListedTool[] }
    const peer = mcpPeer({
      name,
      limits,
      sleep,
      url: `http://127.0.0.1:${declared.port}/mcp`,
      fetch: atUsualPath(portFetch(() => child.up(), declared.port)),
      changed() {
        const tools = peer.listed().filter(isKept)
        const dropped = peer.listed().filter((tool) => !isKept(tool))
        if (dropped.length > 0)
          state.error = [state.error, notTaken(name, dropped)].filter(Boolean).join('; ')
        // A server that is away for a moment keeps its tools.
        if (hasBegun && tools.length === 0) return
        state.tools = tools
        if (hasBegun) tell()
      },
      failed({ message }) {
        state.error = message
        if (hasBegun) tell()
      },
    })
    function isDown(error: unknown): string {
      state.error = `the MCP server ${name} cannot be used: ${(error as Error).message}`
      if (hasBegun) tell()
      return state.error
    }
    return {
      name,
      state,
      async begin(): Promise<void> {
        await child.up().then(() => peer.connected(), isDown)
        came(name, hasTools(state))
      },
      tools: () =>
        offerTools(name, state.tools, [], async (tool, input, { signal }) => {
          const why = await child.up().then(() => undefined, isDown)
          if (why !== undefined) return textResult(`${why}; nothing was run`, true)
          return boundResult(await peer.call(tool, input, { signal }), open)
        }),
    }
  }

  async function put(): Promise<void> {
    let left = mostBytes
    const servers = found.map(({ name, state }) => {
      const { tools, error } = state
      const shown = tools.filter((tool) => !hasBegun || known.has(`${name} ${tool.name}`))
      const listed = shown.map(wireTool)
      left -= Buffer.byteLength(JSON.stringify(listed))
      if (left >= 0 || !hasTools(state)) {
        const said = error?.slice(0, longestError).toWellFormed() ?? null
        // The error is reported once, if the server can be called again.
        if (hasTools(state)) state.error = undefined
        return { name, tools: hasTools(state) ? listed : null, error: said }
      }
      state.tools = []
      state.error = `the MCP server ${name} cannot be used: its list of tools is too large, with all others more than ${mostBytes} bytes`
      return { name, tools: null, error: state.error }
    })
    await client.post(`/v1/ext/stdio-servers/${session.id}`, { body: { servers } })
  }

  /** Reports one at a time. A change during a report causes another report. */
  const report = runAgain(async () => {
    // A failed report loses only news; results of calls are sent separately.
    if (!closed.aborted) await put().catch(() => {})
  })
  const tell = () => void report()

  return {
    async begin() {
      if (found.length === 0) return []
      await Promise.all(found.map((server) => server.begin()))
      if (closed.aborted) return []
      await put()
      hasBegun = true
      for (const { name, state } of found)
        for (const tool of state.tools) known.add(`${name} ${tool.name}`)
      return found.flatMap((server) => server.tools())
    },
  }
}

/** A server without an error is up, even if it has no tools. */
const hasTools = ({ tools, error }: { tools: ListedTool[]; error: string | undefined }): boolean =>
  tools.length > 0 || error === undefined

/** The service refuses a whole report for one invalid tool. */
const isKept = ({ name, inputSchema }: ListedTool): boolean =>
  name !== '' && name.length <= longestName && isWithin(inputSchema, deepestSchema)

function notTaken(server: string, tools: readonly ListedTool[]): string {
  const names = tools.map(({ name }) => JSON.stringify(name.slice(0, longestShownName))).join(', ')
  return `the MCP server ${server} is used in part; the name or schema is too large of ${names}`
}

const isWithin = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isWithin(each, levels - 1)))

const wireTool = ({ name, description, title, annotations, inputSchema }: ListedTool) => ({
  name,
  description: (description ?? annotations?.title ?? title)?.slice(0, longestDescription) ?? null,
  input_schema: inputSchema,
})
