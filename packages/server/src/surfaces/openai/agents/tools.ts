/** Converts tools of `/openai/v1` to an agent's tools and MCP servers, and back. */
import type { McpServer, McpServerShown } from '@steward/protocol/agents.ts'
import type { OpenAITool, OpenAIToolShown } from '@steward/protocol/openai/tools.ts'
import type { ToolEntry, Tools, Toolset } from '@steward/protocol/tools.ts'
import { CustomTool } from '@steward/protocol/tools.ts'

const webTools = ['web_search', 'web_fetch']
const toolsetType = 'agent_toolset_20260401'
const always = { type: 'always_allow' } as const

const isToolset = (tool: ToolEntry): tool is Toolset => tool.type === toolsetType
type ToolConfig = NonNullable<Toolset['configs']>[number]

/** True when an enabled tool of the set needs a sandbox. */
const needsSandbox = ({ default_config, configs }: Toolset): boolean =>
  default_config?.enabled !== false ||
  (configs ?? []).some(({ name, enabled }) => enabled !== false && !webTools.includes(name))

type AutomationsConfig = NonNullable<Toolset['automations']>

/** The tools of a toolset that need no sandbox. */
type OutsideTools = {
  search: ToolConfig | undefined
  automations: AutomationsConfig | undefined
}

const outsideOnly = ({ search, automations }: OutsideTools): Toolset[] =>
  search || automations
    ? [
        withAutomations(
          {
            type: toolsetType,
            default_config: { enabled: false, permission_policy: always },
            configs: search ? [search] : [],
          },
          automations,
        ),
      ]
    : []

const withAutomations = (
  { automations: _, ...toolset }: Toolset,
  automations: AutomationsConfig | undefined,
): Toolset => (automations ? { ...toolset, automations } : toolset)

/** The tool with its policy, where the toolset has it. */
const automationsOf = (toolset: Toolset | undefined): AutomationsConfig | undefined =>
  toolset?.automations && toolset.automations.enabled !== false ? toolset.automations : undefined

const searchOf = (toolset: Toolset | undefined): ToolConfig | undefined => {
  const found = toolset?.configs?.find(({ name }) => name === 'web_search')
  if (found) return found.enabled === false ? undefined : found
  return toolset && toolset.default_config?.enabled !== false ? { name: 'web_search' } : undefined
}

function searchConfig(tool: Extract<OpenAITool, { type: 'web_search' }>): ToolConfig | undefined {
  if (tool.mode === 'disabled') return undefined
  const { allowed_domains, location } = tool
  return {
    name: 'web_search',
    enabled: true,
    permission_policy: always,
    ...(allowed_domains?.length ? { allowed_domains } : {}),
    ...(location ? { user_location: { type: 'approximate', ...location } } : {}),
  }
}

type AgentTools = { tools: Tools; mcp_servers: McpServer[] }

/** `kept`: the tools before the change. Their toolset keeps everything except web search. */
export function toAgentTools(given: readonly OpenAITool[], kept: Tools = []): AgentTools {
  const toolset = kept.find(isToolset)
  const asked = given.find((tool) => tool.type === 'web_search')
  const search = asked && searchConfig(asked)
  const allowed = { enabled: true, permission_policy: always }
  // An agent that has the tool keeps its policy.
  const automations = given.some((tool) => tool.type === 'automations')
    ? (automationsOf(toolset) ?? allowed)
    : undefined
  const sets =
    toolset && needsSandbox(toolset)
      ? [withAutomations(withSearch(toolset, search), automations)]
      : outsideOnly({ search, automations })
  const tools: Tools = [...sets]
  const mcp_servers: McpServer[] = []
  for (const tool of given) {
    if (tool.type === 'function') tools.push(customOf(tool))
    if (tool.type !== 'mcp') continue
    const { server_label: name, transport, allowed_tools } = tool
    const { server_url: url, authorization: authorization_token } = transport
    mcp_servers.push({
      name,
      type: 'url',
      url,
      ...(authorization_token && { authorization_token }),
    })
    tools.push({
      type: 'mcp_toolset',
      mcp_server_name: name,
      default_config: { enabled: !allowed_tools, permission_policy: always },
      configs: (allowed_tools ?? []).map((each) => ({
        name: each,
        enabled: true,
        permission_policy: always,
      })),
    })
  }
  return { tools, mcp_servers }
}

const customOf = ({ name, description, parameters }: Extract<OpenAITool, { type: 'function' }>) =>
  CustomTool.parse({ type: 'custom', name, description, input_schema: parameters })

const withSearch = (toolset: Toolset, search: ToolConfig | undefined): Toolset => ({
  ...toolset,
  configs: [
    ...(toolset.configs ?? []).filter(({ name }) => name !== 'web_search'),
    search ?? { name: 'web_search', enabled: false, permission_policy: always },
  ],
})

/**
 * The tools of a session: with an environment the agent has a shell and files, and without an environment it has
 * neither.
 */
export function toolsFor(tools: Tools, hasEnvironment: boolean): Tools {
  const toolset = tools.find(isToolset)
  const others = tools.filter((tool) => !isToolset(tool))
  const search = searchOf(toolset)
  const automations = automationsOf(toolset)
  if (!hasEnvironment) return [...outsideOnly({ search, automations }), ...others]
  if (toolset && needsSandbox(toolset)) return tools
  const off = { enabled: false, permission_policy: always }
  const configs: ToolConfig[] = search
    ? [search]
    : webTools.map((name) => ({ name: name as 'web_fetch', ...off }))
  const whole: Toolset = {
    type: toolsetType,
    default_config: { enabled: true, permission_policy: always },
    configs,
  }
  return [withAutomations(whole, automations), ...others]
}

/** Tools as a session shows them. */
export function showTools(tools: Tools, servers: readonly McpServerShown[]): OpenAIToolShown[] {
  return tools.flatMap((tool): OpenAIToolShown[] => {
    if (tool.type === 'custom') return [showFunction(tool)]
    if (tool.type === 'mcp_toolset') {
      const url = servers.find(({ name }) => name === tool.mcp_server_name)?.url
      return url ? [showServer(tool, url)] : []
    }
    const search = searchOf(tool)
    return [
      ...(search ? [showSearch(search)] : []),
      ...(automationsOf(tool) ? [{ type: 'automations' } as const] : []),
    ]
  })
}

/** Tools as a stored agent shows them. */
export const withHeaders = (tools: readonly OpenAIToolShown[]): OpenAIToolShown[] =>
  tools.map((tool) =>
    tool.type === 'mcp' ? { ...tool, transport: { ...tool.transport, headers: {} } } : tool,
  )

const showFunction = ({ name, description, input_schema }: CustomTool): OpenAIToolShown => ({
  type: 'function',
  name,
  description,
  parameters: input_schema as Extract<OpenAIToolShown, { type: 'function' }>['parameters'],
  defer_loading: false,
})

function showServer(
  { mcp_server_name, default_config, configs }: Extract<ToolEntry, { type: 'mcp_toolset' }>,
  server_url: string,
): OpenAIToolShown {
  const allowed = (configs ?? []).filter(({ enabled }) => enabled !== false)
  return {
    type: 'mcp',
    server_label: mcp_server_name,
    transport: { type: 'http', server_url },
    allowed_tools: default_config?.enabled === false ? allowed.map(({ name }) => name) : null,
    connection_origin: 'service',
    credential_id: null,
    request_metadata: {},
    required: false,
  }
}

function showSearch({ allowed_domains, user_location }: ToolConfig): OpenAIToolShown {
  const { city = null, country = null, region = null, timezone = null } = user_location ?? {}
  return {
    type: 'web_search',
    mode: 'live',
    context_size: 'medium',
    allowed_domains: allowed_domains ?? null,
    location: user_location ? { city, country, region, timezone } : null,
  }
}
