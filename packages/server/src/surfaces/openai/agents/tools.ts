/** Converts tools of `/openai/v1` to an agent's tools and MCP servers, and back. */
import type { AgentConfig, McpServer, McpServerShown } from '@steward/protocol/agents.ts'
import type { OpenAITool, OpenAIToolShown } from '@steward/protocol/openai/tools.ts'
import { mostServers } from '@steward/protocol/agents.ts'
import type { ToolEntry, Tools, Toolset } from '@steward/protocol/tools.ts'
import { countTools, CustomTool, mostTools } from '@steward/protocol/tools.ts'
import { invalid } from '../../../ground/core/errors.ts'

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

/** True for the tools of a session whose environment brings a shell and files. */
export const haveShell = (tools: Tools): boolean =>
  tools.some((tool) => isToolset(tool) && needsSandbox(tool))

/** The policy of the tools that a toolset does not name. */
const policyOf = (toolset: ServerToolset | Toolset | undefined) =>
  toolset?.default_config?.permission_policy ?? always

const entryOf = (toolset: Toolset | undefined, wanted: ToolConfig['name']) =>
  toolset?.configs?.find(({ name }) => name === wanted)

function searchOf(toolset: Toolset | undefined): ToolConfig | undefined {
  const found = entryOf(toolset, 'web_search')
  const isThere = (found ?? toolset?.default_config)?.enabled !== false
  if (!toolset || !isThere) return undefined
  return found ?? { name: 'web_search', enabled: true, permission_policy: policyOf(toolset) }
}

const hasAutomations = ({ automations }: Toolset): boolean =>
  !!automations && automations.enabled !== false

type ToolOfType<Type extends OpenAITool['type']> = Extract<OpenAITool, { type: Type }>

/** An answer does not show domains that are blocked, so they stay, unless others are allowed. */
function searchConfig(
  { mode, allowed_domains, location }: ToolOfType<'web_search'>,
  kept: Toolset | undefined,
): ToolConfig {
  const { permission_policy, blocked_domains } = entryOf(kept, 'web_search') ?? {}
  const allowed = allowed_domains?.length ? { allowed_domains } : undefined
  return {
    name: 'web_search',
    enabled: mode !== 'disabled',
    permission_policy: permission_policy ?? policyOf(kept),
    ...(allowed ?? (blocked_domains && { blocked_domains })),
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
  const hidden = hiddenServers(given, kept)
  const isHidden = (tool: ToolEntry) =>
    tool.type === 'mcp_toolset' && hidden.some(({ name }) => name === tool.mcp_server_name)
  const made = {
    tools: [
      ...toolsetFor(given, kept.tools.find(isToolset)),
      ...given.flatMap((tool): ToolEntry[] => {
        if (tool.type === 'function') return [customOf(tool, kept.tools)]
        return tool.type === 'mcp' ? [serverToolset(tool, keptToolset(tool, { given, kept }))] : []
      }),
      ...kept.tools.filter(isHidden),
    ],
    mcp_servers: [...servers, ...hidden],
  }
  checkRoom(made, hidden)
  return made
}

/** Servers that an answer does not show, which a change therefore leaves. Throws when the change takes their name. */
function hiddenServers(given: readonly OpenAITool[], kept: KeptTools): McpServer[] {
  const hasTools = (name: string) =>
    kept.tools.some((tool) => tool.type === 'mcp_toolset' && tool.mcp_server_name === name)
  return kept.mcp_servers.filter(({ name, url }) => {
    const index = given.findIndex((tool) => tool.type === 'mcp' && tool.server_label === name)
    if (index !== -1 && !url)
      throw invalid(
        `tools.${index}.server_label: ${name} is an MCP server of type stdio of this agent, which /openai/v1 does not show; choose another`,
      )
    return index === -1 && (!url || !hasTools(name))
  })
}

/** Throws where what is kept leaves no room for what is given. */
function checkRoom({ tools, mcp_servers }: AgentTools, hidden: readonly McpServer[]): void {
  const why = hidden.length > 0 ? `, of which /openai/v1 does not show ${hidden.length}` : ''
  if (mcp_servers.length > mostServers)
    throw invalid(
      `tools: the agent would have ${mcp_servers.length} MCP servers${why}; at most ${mostServers} are possible`,
    )
  const count = countTools(tools)
  if (count > mostTools)
    throw invalid(`tools: the agent would have ${count} tools; at most ${mostTools} are possible`)
}

/** The toolset `kept` with other web search and another tool `automations`. */
function toolsetFor(given: readonly OpenAITool[], kept: Toolset | undefined): Toolset[] {
  const asked = given.find((tool) => tool.type === 'web_search')
  const isManaging = given.some((tool) => tool.type === 'automations')
  const permission_policy = policyOf(kept)
  const managing = { permission_policy, ...kept?.automations, enabled: true }
  const automations = isManaging ? { automations: managing } : {}
  if (kept) {
    const { automations: before, ...toolset } = withSearch(kept, asked && searchConfig(asked, kept))
    const off = before ? { automations: { ...before, enabled: false } } : {}
    return [{ ...toolset, ...(isManaging ? automations : off) }]
  }
  const search = asked && asked.mode !== 'disabled' ? [searchConfig(asked, kept)] : []
  if (search.length === 0 && !isManaging) return []
  const default_config = { enabled: false, permission_policy }
  return [{ type: toolsetType, default_config, configs: search, ...automations }]
}

const serverOf = ({ server_label: name, transport }: ToolOfType<'mcp'>): McpServer => {
  const { server_url: url, authorization: authorization_token } = transport
  return { name, type: 'url', url, ...(authorization_token && { authorization_token }) }
}

/** The toolset of the server before the change, which may have had another name. */
function keptToolset(
  { server_label, transport }: ToolOfType<'mcp'>,
  { given, kept }: { given: readonly OpenAITool[]; kept: KeptTools },
): ServerToolset | undefined {
  const toolsetOf = (server: string) =>
    kept.tools.find(
      (tool): tool is ServerToolset =>
        tool.type === 'mcp_toolset' && tool.mcp_server_name === server,
    )
  const isGiven = (name: string) =>
    given.some((tool) => tool.type === 'mcp' && tool.server_label === name)
  const renamed = kept.mcp_servers.find(
    ({ name, url }) => url === transport.server_url && !isGiven(name),
  )
  return toolsetOf(server_label) ?? (renamed && toolsetOf(renamed.name))
}

function serverToolset(
  { server_label, allowed_tools }: ToolOfType<'mcp'>,
  kept: ServerToolset | undefined,
): ServerToolset {
  const usual = policyOf(kept)
  const named = (kept?.configs ?? []).map((each) => ({ permission_policy: usual, ...each }))
  // An answer shows neither the tools that are off one by one nor their policies.
  const isOpen = kept?.default_config?.enabled !== false
  const entries = named.map((each) => ({
    ...each,
    enabled: allowed_tools?.includes(each.name) ?? (!isOpen || each.enabled !== false),
  }))
  const added = (allowed_tools ?? []).filter((name) => !named.some((each) => each.name === name))
  // Of tools that are off anyway, policies of their own alone are kept, so that changes do not add up.
  const isOwn = ({ enabled, permission_policy }: (typeof entries)[number]) =>
    enabled || permission_policy?.type !== usual.type
  return {
    type: 'mcp_toolset',
    mcp_server_name: server_label,
    default_config: { enabled: !allowed_tools, permission_policy: usual },
    configs: [
      ...(allowed_tools ? entries.filter(isOwn) : entries),
      ...added.map((name) => ({ name, enabled: true, permission_policy: usual })),
    ],
  }
}

/** Who runs the tool is not shown, and stays. */
function customOf(
  { name, description, parameters }: ToolOfType<'function'>,
  keptTools: Tools,
): CustomTool {
  const kept = keptTools.find((tool) => tool.type === 'custom' && tool.name === name)
  const execution = kept?.type === 'custom' ? kept.execution : undefined
  const made = { type: 'custom', name, description, input_schema: parameters }
  return CustomTool.parse({ ...made, ...(execution && { execution }) })
}

function withSearch(toolset: Toolset, search: ToolConfig | undefined): Toolset {
  const permission_policy = policyOf(toolset)
  const kept = entryOf(toolset, 'web_search')
  const off: ToolConfig = { permission_policy, name: 'web_search', ...kept, enabled: false }
  const others = (toolset.configs ?? []).filter(({ name }) => name !== 'web_search')
  return { ...toolset, configs: [...others, search ?? off] }
}

/**
 * The tools of a session: with an environment the agent has a shell and files, and without an environment it has
 * neither.
 */
export function toolsFor(tools: Tools, hasEnvironment: boolean): Tools {
  const toolset = tools.find(isToolset)
  const others = tools.filter((tool) => !isToolset(tool))
  if (!hasEnvironment) return [...(toolset ? [outsideOnly(toolset)] : []), ...others]
  if (toolset && needsSandbox(toolset)) return tools
  const permission_policy = policyOf(toolset)
  const off = webTools
    .filter((name) => !entryOf(toolset, name))
    .map((name) => ({ name, enabled: false, permission_policy }))
  const whole: Toolset = {
    type: toolsetType,
    ...toolset,
    default_config: { enabled: true, permission_policy },
    configs: [...(toolset?.configs ?? []), ...(searchOf(toolset) ? [] : off)],
  }
  return [whole, ...others]
}

/** The toolset without the tools that need a sandbox. */
function outsideOnly(toolset: Toolset): Toolset {
  const search = searchOf(toolset) ?? entryOf(toolset, 'web_search')
  const default_config = { enabled: false, permission_policy: policyOf(toolset) }
  return { ...toolset, default_config, configs: search ? [search] : [] }
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
      ...(hasAutomations(tool) ? [{ type: 'automations' } as const] : []),
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
