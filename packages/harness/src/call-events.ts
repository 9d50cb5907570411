/** The events of a call: which type makes it, and which answers it. */
import { isMcpName, mcpNames } from './tools/mcp/names.ts'
import { asksFirst } from './tools/permission.ts'
import type { Tool, ToolResult } from './tools/tool.ts'
import type { KeptEvent, OpenCall, Turn } from './turn.ts'

const evaluations = {
  allow: { type: 'always_allow' },
  ask: { type: 'always_ask' },
  auto: { type: 'auto', evaluated_permission: { type: 'ask', reason_code: 'indeterminate' } },
} as const

export function toolUse(
  id: string,
  name: string,
  input: Record<string, unknown>,
  tool: Tool | undefined,
): KeptEvent['event'] {
  if (tool?.runs === 'client') return { id, type: 'agent.custom_tool_use', name, input }
  const evaluated = {
    evaluated_permission: asksFirst(tool) ? ('ask' as const) : ('allow' as const),
    evaluation: evaluations[tool?.permission ?? 'allow'],
  }
  if (tool?.asks === 'advisor')
    return { id, type: 'agent.advisor_tool_use', name, input, ...evaluated }
  if (tool?.runs === 'worker')
    return { id, type: 'agent.tool_use', name, input, ...evaluated, executed_by: 'worker' }
  if (!isMcpName(name)) return { id, type: 'agent.tool_use', name, input, ...evaluated }
  const { server, tool: own } = tool?.mcp ?? mcpNames(name)
  return {
    id,
    type: 'agent.mcp_tool_use',
    name,
    mcp_server_name: server,
    mcp_tool_name: own,
    input,
    ...evaluated,
  }
}

/** A result of the event type that answers this call. */
export function buildResultEvent(
  turn: Turn,
  { event_id, name, executed_by }: Pick<OpenCall, 'event_id' | 'name' | 'executed_by'>,
  tool: Tool | undefined,
  { content, is_error, web_searches }: ToolResult,
): KeptEvent {
  const id = turn.newEventId()
  const answer = { content, is_error }
  if (tool?.runs === 'client')
    return {
      event: {
        id,
        type: 'user.custom_tool_result',
        custom_tool_use_id: event_id,
        ...answer,
        closed_by: 'service',
      },
    }
  if (tool?.asks === 'advisor')
    return { event: { id, type: 'agent.advisor_tool_result', tool_use_id: event_id, ...answer } }
  const isWorkers = executed_by === 'worker' || tool?.runs === 'worker'
  return {
    event:
      isMcpName(name) && !isWorkers
        ? { id, type: 'agent.mcp_tool_result', mcp_tool_use_id: event_id, ...answer }
        : { id, type: 'agent.tool_result', tool_use_id: event_id, ...answer },
    ...(web_searches !== undefined && { web_searches }),
  }
}
