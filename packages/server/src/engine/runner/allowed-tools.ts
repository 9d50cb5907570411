/** Tools that people have allowed for one session: its agent's rule to ask first does not hold for them. */
import type { McpServers } from '@steward/harness/tools/mcp/servers.ts'
import type { Tool } from '@steward/harness/turn.ts'
import type { SessionRow } from '../../sessions/rows/sessions.ts'
import { allowancesOf } from '../../sessions/rows/allowances.ts'

export function allowedTools(row: SessionRow) {
  const names = new Set(allowancesOf(row).map(({ tool }) => tool))
  const allow = (tool: Tool): Tool =>
    names.has(tool.name) && tool.permission !== 'allow' ? { ...tool, permission: 'allow' } : tool
  const among = (tools: readonly Tool[]): readonly Tool[] =>
    names.size === 0 ? tools : tools.map(allow)

  return {
    among,
    /** The servers with these tools. They return the same array while nothing has changed, as servers do. */
    amongServers(servers: McpServers): McpServers {
      if (names.size === 0) return servers
      let seen: readonly Tool[] | undefined
      let shown: readonly Tool[] = []
      return {
        ...servers,
        tools() {
          const tools = servers.tools()
          if (tools !== seen) shown = among(tools)
          seen = tools
          return shown
        },
      }
    },
  }
}
