/** What a form of an agent holds: the fields that a request may have, as they are sent. */
import type { Agent, AgentCreateBody } from '../../lib/api/types.ts'
import { changesIn } from '../../lib/changes.ts'

export type AgentDraft = Partial<AgentCreateBody>
type AgentTool = NonNullable<AgentDraft['tools']>[number]
export type ToolPolicy = 'always_allow' | 'always_ask' | 'auto' | 'off'

/** The fields that the form shows: refusals of the service stand under them. */
export const draftFields = [
  'name',
  'description',
  'model',
  'system',
  'tools',
  'mcp_servers',
  'skills',
  'environment_id',
  'memory_store_id',
  'multiagent',
  'metadata',
  'harness',
] as const satisfies readonly (keyof AgentDraft)[]

/** A new agent can do everything in its sandbox, so that it does something at once. */
export const newDraft: AgentDraft = {
  name: '',
  model: '',
  system: '',
  tools: [
    {
      type: 'agent_toolset_20260401',
      default_config: { enabled: true, permission_policy: { type: 'always_allow' } },
    },
  ],
}

/** An agent as a form begins with it. Fields that were never set are left out. */
export function draftOf(agent: Agent): AgentDraft {
  const given = draftFields.map((field): [string, unknown] => [field, agent[field]])
  return Object.fromEntries(given.filter(([, value]) => value !== null && value !== undefined))
}

export const changesOf = (before: AgentDraft, draft: AgentDraft): AgentDraft =>
  changesIn(draftFields, before, draft)

/** Without what is empty, as a person would write it. */
export function bodyOf(draft: AgentDraft): AgentDraft {
  return Object.fromEntries(
    Object.entries(draft).filter(
      ([field, value]) =>
        field === 'name' ||
        field === 'model' ||
        (value !== '' &&
          value !== null &&
          value !== undefined &&
          !(Array.isArray(value) && value.length === 0 && field !== 'tools')),
    ),
  )
}

export const modelIdOf = (model: string | { id: string } | undefined): string =>
  typeof model === 'string' ? model : (model?.id ?? '')

type DraftToolset = Extract<AgentTool, { type: 'agent_toolset_20260401' }>
type McpToolset = Extract<AgentTool, { type: 'mcp_toolset' }>

const isToolset = (tool: AgentTool): tool is DraftToolset => tool.type === 'agent_toolset_20260401'

const toolsetOf = ({ tools }: AgentDraft): DraftToolset | undefined => tools?.find(isToolset)

type ToolRule = NonNullable<DraftToolset['default_config']>

const policyOfConfig = (config: ToolRule | undefined | null, fallback: ToolPolicy): ToolPolicy => {
  if (config?.enabled === false) return 'off'
  const policy = config?.permission_policy?.type
  return policy ?? (config?.enabled === true && fallback === 'off' ? 'always_allow' : fallback)
}

const configOf = (policy: ToolPolicy): ToolRule =>
  policy === 'off' ? { enabled: false } : { enabled: true, permission_policy: { type: policy } }

type NamedTool = NonNullable<DraftToolset['configs']>[number]['name']

/** Tools that a toolset has only where it names them. */
type ExtraTool = 'schedule_wakeup' | 'automations'
export type FormTool = NamedTool | ExtraTool

const isExtra = (tool: FormTool): tool is ExtraTool =>
  tool === 'schedule_wakeup' || tool === 'automations'

/** What a built-in tool may do. Without a toolset the agent has none of them. */
export function policyOf(draft: AgentDraft, tool: FormTool): ToolPolicy {
  const set = toolsetOf(draft)
  if (!set) return 'off'
  const common = policyOfConfig(set.default_config, 'always_allow')
  if (isExtra(tool)) {
    const config = set[tool]
    return config ? policyOfConfig(config, 'always_allow') : 'off'
  }
  return policyOfConfig(
    set.configs?.find(({ name }) => name === tool),
    common,
  )
}

const replaceTool = (tools: readonly AgentTool[], from: AgentTool | undefined, to: AgentTool) =>
  from ? tools.map((each) => (each === from ? to : each)) : [to, ...tools]

/** The draft where one tool may do this. Settings of the tool that have nothing to do with it stay. */
export function withPolicy(draft: AgentDraft, tool: FormTool, policy: ToolPolicy): AgentDraft {
  const tools = draft.tools ?? []
  const set = toolsetOf(draft)
  const base: DraftToolset = set ?? {
    type: 'agent_toolset_20260401',
    default_config: { enabled: false },
  }
  if (isExtra(tool)) {
    const { [tool]: _before, ...rest } = base
    const next: DraftToolset = policy === 'off' ? rest : { ...rest, [tool]: configOf(policy) }
    return { ...draft, tools: replaceTool(tools, set, next) }
  }
  const before = base.configs?.find(({ name }) => name === tool)
  const others = base.configs?.filter(({ name }) => name !== tool) ?? []
  const { enabled: _enabled, permission_policy: _policy, ...settings } = before ?? { name: tool }
  const isCommon = policyOfConfig(base.default_config, 'always_allow') === policy
  const isPlain = Object.keys(settings).every((key) => key === 'name' || key === 'type')
  const configs = isCommon && isPlain ? others : [...others, { ...settings, ...configOf(policy) }]
  const { configs: _configs, ...rest } = base
  const next: DraftToolset = configs.length > 0 ? { ...rest, configs } : rest
  return { ...draft, tools: replaceTool(tools, set, next) }
}

/** What all tools of an MCP server may do. Without an entry they are allowed; an entry that says nothing asks. */
export function serverPolicyOf({ tools }: AgentDraft, server: string): ToolPolicy {
  const set = tools?.find(
    (tool): tool is McpToolset => tool.type === 'mcp_toolset' && tool.mcp_server_name === server,
  )
  return set ? policyOfConfig(set.default_config, 'always_ask') : 'always_allow'
}

export function withServerPolicy(
  draft: AgentDraft,
  server: string,
  policy: ToolPolicy,
): AgentDraft {
  const tools = draft.tools ?? []
  const before = tools.find(
    (tool): tool is McpToolset => tool.type === 'mcp_toolset' && tool.mcp_server_name === server,
  )
  const set: McpToolset = {
    ...(before ?? { type: 'mcp_toolset', mcp_server_name: server }),
    default_config: configOf(policy),
  }
  return {
    ...draft,
    tools: before ? tools.map((each) => (each === before ? set : each)) : [...tools, set],
  }
}

/** Removes a server and what was said of its tools. */
export function withoutServer(draft: AgentDraft, server: string): AgentDraft {
  return {
    ...draft,
    mcp_servers: draft.mcp_servers?.filter(({ name }) => name !== server),
    tools: draft.tools?.filter(
      (tool) => tool.type !== 'mcp_toolset' || tool.mcp_server_name !== server,
    ),
  }
}

/** What each field of the form has. */
export type DraftFieldProps = {
  draft: AgentDraft
  onDraft: (draft: AgentDraft) => void
  /** What the service says of it. */
  problem?: string | undefined
}
