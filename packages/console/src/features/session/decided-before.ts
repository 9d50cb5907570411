/** What people have decided about a tool in this session. */
import type { SessionEvent } from '../../lib/api/types.ts'
import type { ToolCall } from './conversation.ts'
import { decidedWords as own } from './words.ts'

type AskedTool = Pick<ToolCall, 'name' | 'server'>
type Decisions = { approved: number; denied: number }

/** Two MCP servers may have a tool of one name. */
export function decisionsAbout(
  { name, server }: AskedTool,
  events: readonly SessionEvent[],
): Decisions {
  const calls = new Set(
    events.flatMap((event) =>
      (event.type === 'agent.tool_use' && server === undefined && event.name === name) ||
      (event.type === 'agent.mcp_tool_use' &&
        event.mcp_server_name === server &&
        event.name === name)
        ? event.id
        : [],
    ),
  )
  const decided = events.flatMap((event) =>
    event.type === 'user.tool_confirmation' && calls.has(event.tool_use_id) ? event.result : [],
  )
  const approved = decided.filter((result) => result === 'allow').length
  return { approved, denied: decided.length - approved }
}

/** `isAll`: no earlier decision was left out. Undefined where nothing can be said. */
export function decidedText(
  tool: string,
  { approved, denied }: Decisions,
  isAll: boolean,
): string | undefined {
  const parts = [
    ...(approved > 0 ? [own.approved(approved)] : []),
    ...(denied > 0 ? [own.denied(denied)] : []),
  ]
  if (parts.length === 0) return isAll ? own.never : undefined
  const said = parts.join(', ')
  return own.before(tool, isAll ? said : own.atLeast(said))
}
