/** Converts tools of `/openai/v1` to an agent's tools and MCP servers, and back. */
import type { AgentConfig, McpServer, McpServerShown } from '@steward/protocol/agents.ts'
import type { OpenAITool, OpenAIToolShown } from '@steward/protocol/openai/tools.ts'
import type { PermissionPolicy, ToolEntry, Tools, Toolset } from '@steward/protocol/tools.ts'
import { CustomTool, namedTools } from '@steward/protocol/tools.ts'

const webTools = ['web_search', 'web_fetch'] as const
const toolsetType = 'agent_toolset_20260401'
const always = { type: 'always_allow' } as const

const isWebTool = (name: string) => webTools.some((each) => each === name)
const isToolset = (tool: ToolEntry): tool is Toolset => tool.type === toolsetType
type ServerToolset = Extract<ToolEntry, { type: 'mcp_toolset' }>
type ToolConfig = NonNullable<Toolset['configs']>[number]

/** True when an enabled tool of the set needs a sandbox. */
const needsSandbox = ({ default_config, configs }: Toolset): boolean =>
  default_config?.enabled !== false ||
  (configs ?? []).some(({ name, enabled }) => enabled !== false && !isWebTool(name))

/** The tools of a toolset that need no sandbox. */
type OutsideTools = Pick<Toolset, (typeof namedTools)[number]> & { search?: ToolConfig }

function outsideOnly({ search, ...named }: OutsideTools): Toolset[] {
  if (!search && !namedTools.some((name) => named[name])) return []
  const default_config = { enabled: false, permission_policy: always }
  return [{ type: toolsetType, default_config, configs: search ? [search] : [], ...named }]
}

/** The policy of the tools that a toolset does not name. */
const policyOf = (toolset: ServerToolset | Toolset | undefined) =>
  toolset?.default_config?.permission_policy ?? always

const namedOf = (toolset: Toolset | undefined, name: (typeof namedTools)[number]) => {
  const config = toolset?.[name]
  return config && config.enabled !== false ? config : undefined
}

/** The tools with their policies, where the toolset has them. */
function outsideOf(toolset: Toolset | undefined): OutsideTools {
  const search = searchOf(toolset)
  const named = namedTools.map((name) => [name, namedOf(toolset, name)] as const)
  return { ...Object.fromEntries(named.filter(([, config]) => config)), ...(search && { search }) }
}

function searchOf(toolset: Toolset | undefined): ToolConfig | undefined {
  const found = toolset?.configs?.find(({ name }) => name === 'web_search')
  const isThere = (found ?? toolset?.default_config)?.enabled !== false
  if (!toolset || !isThere) return undefined
  return found ?? { name: 'web_search', enabled: true, permission_policy: policyOf(toolset) }
}

type ToolOfType<Type extends OpenAITool['type']> = Extract<OpenAITool, { type: Type }>

function searchConfig(
  { mode, allowed_domains, location }: ToolOfType<'web_search'>,
  permission_policy: PermissionPolicy,
): ToolConfig | undefined {
  if (mode === 'disabled') return undefined
  return {
    name: 'web_search',
    enabled: true,
    permission_policy,
    ...(allowed_domains?.length ? { allowed_domains } : {}),
    ...(location ? { user_location: { type: 'approximate', ...location } } : {}),
  }
}

type AgentTools = { tools: Tools; mcp_servers: McpServer[] }

/** An agent's tools before a change of them. */
type KeptTools = Pick<AgentConfig, 'tools' | 'mcp_servers'>

/**
 * Policies cannot be said on this wire, so a tool keeps its own, and a new one gets that of its toolset. What this wire
 * does not show stays.
 */
export function toAgentTools(
  given: readonly OpenAITool[],
  kept: KeptTools = { tools: [], mcp_servers: [] },
): AgentTools {
  const servers = given.flatMap((tool) => (tool.type === 'mcp' ? [serverOf(tool)] : []))
  const isReplaced = ({ name }: McpServer) => servers.some((server) => server.name === name)
  const local = kept.mcp_servers.filter((server) => !server.url && !isReplaced(server))
  const isLocal = (tool: ToolEntry) =>
    tool.type === 'mcp_toolset' && local.some(({ name }) => name === tool.mcp_server_name)
  return {
    tools: [
      ...toolsetFor(given, kept.tools.find(isToolset)),
      ...given.flatMap((tool): ToolEntry[] => {
        if (tool.type === 'function') return [customOf(tool)]
        return tool.type === 'mcp' ? [serverToolset(tool, kept.tools)] : []
      }),
      ...kept.tools.filter(isLocal),
    ],
    mcp_servers: [...servers, ...local],
  }
}

/** The toolset `kept` with other web search and another tool `automations`. */
function toolsetFor(given: readonly OpenAITool[], kept: Toolset | undefined): Toolset[] {
  const { search: found, automations: managed, ...others } = outsideOf(kept)
  const asked = given.find((tool) => tool.type === 'web_search')
  const search = asked && searchConfig(asked, found?.permission_policy ?? policyOf(kept))
  const isManaging = given.some((tool) => tool.type === 'automations')
  const automations = isManaging
    ? (managed ?? { enabled: true, permission_policy: policyOf(kept) })
    : undefined
  if (!kept || !needsSandbox(kept))
    return outsideOnly({
      ...others,
      ...(search && { search }),
      ...(automations && { automations }),
    })
  const { automations: _, ...toolset } = withSearch(kept, search)
  return [{ ...toolset, ...(automations && { automations }) }]
}

const serverOf = ({ server_label: name, transport }: ToolOfType<'mcp'>): McpServer => {
  const { server_url: url, authorization: authorization_token } = transport
  return { name, type: 'url', url, ...(authorization_token && { authorization_token }) }
}

function serverToolset(
  { server_label, allowed_tools }: ToolOfType<'mcp'>,
  keptTools: Tools,
): ServerToolset {
  const kept = keptTools.find(
    (tool) => tool.type === 'mcp_toolset' && tool.mcp_server_name === server_label,
  ) as ServerToolset | undefined
  const usual = policyOf(kept)
  const named = kept?.configs ?? []
  // An answer shows neither the tools that are off one by one nor their policies.
  const isOpen = kept?.default_config?.enabled !== false
  const configs = allowed_tools
    ? allowed_tools.map((name) => ({
        ...named.find((each) => each.name === name),
        name,
        enabled: true,
      }))
    : named.map((each) => ({ ...each, enabled: !isOpen || each.enabled !== false }))
  return {
    type: 'mcp_toolset',
    mcp_server_name: server_label,
    default_config: { enabled: !allowed_tools, permission_policy: usual },
    configs: configs.map((each) => ({ permission_policy: usual, ...each })),
  }
}

const customOf = ({ name, description, parameters }: ToolOfType<'function'>) =>
  CustomTool.parse({ type: 'custom', name, description, input_schema: parameters })

const withSearch = (toolset: Toolset, search: ToolConfig | undefined): Toolset => ({
  ...toolset,
  configs: [
    ...(toolset.configs ?? []).filter(({ name }) => name !== 'web_search'),
    search ?? { name: 'web_search', enabled: false, permission_policy: policyOf(toolset) },
  ],
})

/**
 * The tools of a session: with an environment the agent has a shell and files, and without an environment it has
 * neither.
 */
export function toolsFor(tools: Tools, hasEnvironment: boolean): Tools {
  const toolset = tools.find(isToolset)
  const others = tools.filter((tool) => !isToolset(tool))
  const outside = outsideOf(toolset)
  if (!hasEnvironment) return [...outsideOnly(outside), ...others]
  if (toolset && needsSandbox(toolset)) return tools
  const { search, ...named } = outside
  const permission_policy = policyOf(toolset)
  const off = webTools.map((name) => ({ name, enabled: false, permission_policy }))
  const whole: Toolset = {
    type: toolsetType,
    default_config: { enabled: true, permission_policy },
    configs: search ? [search] : off,
    ...named,
  }
  return [whole, ...others]
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
      ...(namedOf(tool, 'automations') ? [{ type: 'automations' } as const] : []),
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
  { mcp_server_name, default_config, configs }: ServerToolset,
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
