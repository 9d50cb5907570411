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

/** Of all tools of a session together: more than any model takes. References in schemas grow when they are resolved. */
const mostCharacters = 2 * 1024 * 1024

/**
 * Characters that are left for the tools of a session, and the number of those that had no room. `texts`: their names
 * and descriptions.
 */
export type ToolRoom = { texts: number; schemas: number; leftOut: number }

export const toolRoom = (): ToolRoom => ({
  texts: mostCharacters,
  schemas: mostCharacters,
  leftOut: 0,
})

/**
 * Ordered by name, independently of the server's order. Without a toolset for the server, all tools are offered. A schema
 * without room becomes any object; a tool without room is left out.
 */
export function offerTools(
  server: string,
  listed: readonly ListedTool[],
  entries: readonly ToolEntry[],
  run: RunMcpTool,
  room = toolRoom(),
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
      room.texts -= tool.name.length + descriptionOf(tool).length
      if (room.texts < 0) {
        room.leftOut++
        return []
      }
      return [asTool(server, tool, permissionOf(config?.permission_policy ?? fallback), run, room)]
    })
}

/**
 * The tools of a server that the session's worker runs. The worker makes the calls, with the same names and schemas.
 */
export const offerWorkerTools = (
  server: string,
  listed: readonly ListedTool[],
  entries: readonly ToolEntry[],
  room: ToolRoom,
): Tool[] =>
  offerTools(
    server,
    listed,
    entries,
    (tool) => Promise.reject(new Error(`${tool} of ${server} is run by the worker`)),
    room,
  ).map((tool) => ({ ...tool, runs: 'worker' }))

const descriptionOf = ({ name, description, title, annotations }: ListedTool): string =>
  (description ?? annotations?.title ?? title ?? name).slice(0, longestDescription)

function asTool(
  server: string,
  listed: ListedTool,
  permission: Tool['permission'],
  run: RunMcpTool,
  room: ToolRoom,
): Tool {
  const { name, annotations } = listed
  const { schema, toServer, characters } = fitSchema(listed.inputSchema, room.schemas)
  room.schemas -= characters
  // The server's own word decides whether a call can be repeated, because only the server suffers from a second call.
  const isRepeatable = annotations?.readOnlyHint === true || annotations?.idempotentHint === true
  return {
    name: mcpName(server, name),
    description: descriptionOf(listed),
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
