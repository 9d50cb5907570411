/** Chooses the tools of a server that an agent gets, and their settings. */
import type { ToolEntry } from '@steward/protocol/tools.ts'
import { permissionOf } from '../permission.ts'
import type { Tool } from '../tool.ts'
import type { ListedTool } from './listed-tool.ts'
import { longestDescription } from './listed-tool.ts'
import { mcpName } from './names.ts'
import { fitSchema } from './schema.ts'

type McpToolsetEntry = Extract<ToolEntry, { type: 'mcp_toolset' }>
export type RunMcpTool = (
  tool: string,
  input: Record<string, unknown>,
  options: { signal: AbortSignal },
) => ReturnType<Tool['run']>

/** Ordered by name, independently of the server's order. Without a toolset for the server, all tools are offered. */
export function offerTools(
  server: string,
  listed: readonly ListedTool[],
  entries: readonly ToolEntry[],
  run: RunMcpTool,
): Tool[] {
  const set = entries.find(
    (entry): entry is McpToolsetEntry =>
      entry.type === 'mcp_toolset' && entry.mcp_server_name === server,
  )
  const byName = new Map(listed.map((tool) => [tool.name, tool]))
  return [...byName.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((tool): Tool[] => {
      const config = set?.configs?.find(({ name }) => name === tool.name) ?? set?.default_config
      if (config?.enabled === false) return []
      const fallback = { type: set ? ('always_ask' as const) : ('always_allow' as const) }
      return [asTool(server, tool, permissionOf(config?.permission_policy ?? fallback), run)]
    })
}

/**
 * The tools of a server that the session's worker runs. The worker makes the calls, with the same names and schemas.
 */
export const offerWorkerTools = (
  server: string,
  listed: readonly ListedTool[],
  entries: readonly ToolEntry[],
): Tool[] =>
  offerTools(server, listed, entries, (tool) =>
    Promise.reject(new Error(`${tool} of ${server} is run by the worker`)),
  ).map((tool) => ({ ...tool, runs: 'worker' }))

function asTool(
  server: string,
  listed: ListedTool,
  permission: Tool['permission'],
  run: RunMcpTool,
): Tool {
  const { name, description, title, annotations } = listed
  const { schema, toServer } = fitSchema(listed.inputSchema)
  // The server's own word decides whether a call can be repeated, because only the server suffers from a second call.
  const isRepeatable = annotations?.readOnlyHint === true || annotations?.idempotentHint === true
  return {
    name: mcpName(server, name),
    description: (description ?? annotations?.title ?? title ?? name).slice(0, longestDescription),
    input_schema: schema,
    runs: 'here',
    input: 'passed',
    mcp: { server, tool: name },
    permission,
    repeat: isRepeatable ? 'safe' : 'never',
    sandbox: 'unused',
    prepare() {},
    run: (input, options) => run(name, toServer(input), options),
  }
}
