/** Tools that repeat recorded results. They run nothing: no sandbox, no server, no request. */
import type { McpServers } from '@steward/harness/tools/mcp/servers.ts'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import { offerTools } from '@steward/harness/tools/mcp/offer-tools.ts'
import type { Tool, ToolResult } from '@steward/harness/tools/tool.ts'
import { textResult } from '@steward/harness/tools/tool.ts'
import { pullRequestTool, pullRequestToolName } from '@steward/harness/tools/pull-request.ts'
import { buildTools } from '@steward/harness/tools/toolset.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { isCall } from '@steward/protocol/call-events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import type { SessionRecord } from './record.ts'

type RecordedCall = { name: string; input: Record<string, unknown>; result: ToolResult }

/** Calls with a result, by tool name, in call order. */
export type RecordedResults = Map<string, RecordedCall[]>

export const callOfResult = (event: NewEvent): string | undefined => {
  if (event.type === 'agent.tool_result' || event.type === 'agent.advisor_tool_result')
    return event.tool_use_id
  return event.type === 'agent.mcp_tool_result' ? event.mcp_tool_use_id : undefined
}

export function collectRecordedResults({ turns }: SessionRecord): RecordedResults {
  const made = turns.flatMap((turn) => turn.made.map(({ event }) => event))
  const results = new Map<string, ToolResult>()
  for (const event of made) {
    const call = callOfResult(event)
    if (call === undefined || !('content' in event) || !('is_error' in event)) continue
    const { content, is_error } = event as ToolResult
    results.set(call, { content, is_error: is_error ?? false })
  }
  const found: RecordedResults = new Map()
  for (const event of made) {
    const result = results.get(event.id)
    if (!isCall(event) || !result) continue
    const { name, input } = event
    found.set(name, [...(found.get(name) ?? []), { name, input, result }])
  }
  return found
}

const none = () => Promise.reject(new Error('a replay runs nothing'))

/** Returns each recorded result once, to the first equal call. */
function repeatResults(results: RecordedResults) {
  return (tool: Tool): Tool => ({
    ...tool,
    prepare() {},
    async run(input) {
      const calls = results.get(tool.name) ?? []
      const index = calls.findIndex((call) => isSameJson(call.input, input))
      const [call] = index === -1 ? [] : calls.splice(index, 1)
      return call?.result ?? textResult('the record has no result of such a call', true)
    },
  })
}

/** The tool that a publication gave to the agent: no agent names it. */
function givenTools({ turns }: SessionRecord): Tool[] {
  for (const { made } of turns)
    for (const { event } of made)
      if (event.type === 'agent.tool_use' && event.name === pullRequestToolName)
        return [
          {
            ...pullRequestTool(none),
            permission: event.evaluated_permission === 'ask' ? 'ask' : 'allow',
          },
        ]
  return []
}

export function recordedTools(
  agent: SessionAgent,
  record: SessionRecord,
  results: RecordedResults,
): Tool[] {
  const web = { fetch: none, conversionSlot: none, search: null }
  const tools = buildTools(agent.tools, {
    sandbox: none,
    outbound: none,
    web,
    commandSecrets: async () => ({}),
    now: () => 0,
    automations: { list: none, prepare: none },
  })
  return [...tools, ...givenTools(record)].map(repeatResults(results))
}

/** The agent's MCP servers, with the tools that the record called. */
export function recordedServers(
  agent: SessionAgent,
  { turns }: SessionRecord,
  results: RecordedResults,
): McpServers {
  if (agent.mcp_servers.length === 0) return noServers
  const listed = new Map<string, Set<string>>()
  for (const { made } of turns)
    for (const { event } of made)
      if (event.type === 'agent.mcp_tool_use') {
        const { mcp_server_name: server, mcp_tool_name: tool } = event
        listed.set(server, (listed.get(server) ?? new Set<string>()).add(tool))
      }
  const tools = agent.mcp_servers.flatMap(({ name: server }) =>
    offerTools(
      server,
      [...(listed.get(server) ?? [])].map((name) => ({ name, inputSchema: { type: 'object' } })),
      agent.tools,
      none,
    ).map(repeatResults(results)),
  )
  return { ...noServers, tools: () => tools }
}
