/** Converts an agent of `/openai/v1` to an agent's configuration, and back. */
import type {
  Agent,
  AgentConfig,
  AgentCreate,
  AgentUpdate,
  Answers,
  ModelRef,
} from '@steward/protocol/agents.ts'
import { mostSubagents } from '@steward/protocol/agents.ts'
import type { Multiagent, MultiagentOf } from '@steward/protocol/multiagent.ts'
import type {
  OpenAIAgent,
  OpenAIAgentCreate,
  OpenAIAgentOverrides,
  OpenAIAgentUpdate,
  OpenAIMultiAgent,
  OpenAISessionAgent,
} from '@steward/protocol/openai/agents.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { SessionOnly } from '../../../sessions/create.ts'
import { unixSeconds } from '../page.ts'
import { showTools, toAgentTools, withHeaders } from './tools.ts'

/** Every agent has a name in this service; the wire shows this name as null. */
const unnamed = 'Unnamed agent'

type ModelFields = Pick<OpenAIAgentUpdate, 'model' | 'reasoning' | 'service_tier'>

const levels = { none: 'low', minimal: 'low' } as const
type ReasoningEffort = NonNullable<NonNullable<OpenAIAgentUpdate['reasoning']>['effort']>
const levelOf = (effort: ReasoningEffort) => ({
  type: effort === 'none' || effort === 'minimal' ? levels[effort] : effort,
})

/** An absent field keeps its value, even when the model changes. */
export function modelRef(
  { model, reasoning, service_tier }: ModelFields,
  kept?: ModelRef,
): ModelRef {
  const before = typeof kept === 'object' ? kept : { id: kept ?? '' }
  const id = model ?? before.id
  const given = reasoning === null ? null : reasoning?.effort
  const effort = given === undefined ? before.effort : given && levelOf(given)
  const isFast = service_tier === undefined ? before.speed === 'fast' : isFastTier(service_tier)
  const { inference_geo } = before
  if (!effort && !isFast && !inference_geo) return id
  return {
    id,
    ...(effort ? { effort } : {}),
    ...(isFast ? { speed: 'fast' } : {}),
    ...(inference_geo ? { inference_geo } : {}),
  }
}

const isFastTier = (tier: OpenAIAgentUpdate['service_tier']): boolean =>
  tier === 'fast' || tier === 'priority' || tier === 'ultrafast'

/** The form of answers. An absent field keeps its value, and null clears it. */
function toAnswers(text: OpenAIAgentUpdate['text'], kept: Answers | undefined): Answers | null {
  const { format, verbosity } = text ?? { format: null, verbosity: null }
  const schema = format === undefined ? kept?.schema : schemaOf(format)
  const length = verbosity === undefined ? kept?.verbosity : (verbosity ?? 'medium')
  const isLength = length !== undefined && length !== 'medium'
  if (!schema && !isLength) return null
  return { ...(isLength && { verbosity: length }), ...(schema && { schema }) }
}

type FormatGiven = NonNullable<NonNullable<OpenAIAgentUpdate['text']>['format']>
const schemaOf = (format: FormatGiven | null): Answers['schema'] =>
  format?.type === 'json_schema' ? format.schema : undefined

/** Null takes the limit away. */
const toLimit = (given: OpenAIMultiAgent | null | undefined): number | null | undefined => {
  if (given === undefined) return undefined
  const asked = given?.enabled ? given.max_concurrent_subagents : null
  return asked === null || asked === undefined ? null : Math.min(asked, mostSubagents)
}

export const toAgentCreate = (given: OpenAIAgentCreate): AgentCreate => ({
  name: given.name ?? unnamed,
  model: modelRef(given),
  system: given.instructions ?? null,
  ...toAgentTools(given.tools ?? []),
  metadata: given.metadata ?? {},
  answers: toAnswers(given.text, undefined),
  max_concurrent_subagents: toLimit(given.multi_agent) ?? null,
})

/** An agent that is created for one session. */
export const inlineAgent = (given: OpenAIAgentOverrides & { model: string }): AgentCreate => {
  const model = modelRef(given)
  const { tools, mcp_servers } = toAgentTools(given.tools ?? [])
  const system = given.instructions ?? null
  const answers = toAnswers(given.text, undefined)
  const max_concurrent_subagents = toLimit(given.multi_agent) ?? null
  const own = { answers, max_concurrent_subagents }
  return { name: unnamed, model, system, tools, mcp_servers, ...own }
}

/** Replaces `metadata` and `tools` as wholes. */
export function toAgentUpdate(given: OpenAIAgentUpdate, kept: AgentConfig): AgentUpdate {
  const { name, metadata, ...shared } = given
  const { text, multi_agent } = given
  return {
    ...toAgentOverrides(shared, kept),
    ...(name === undefined ? {} : { name: name ?? unnamed }),
    ...(metadata === undefined
      ? {}
      : { metadata: replacementPatch(kept.metadata, metadata ?? {}) }),
    ...(text !== undefined && { answers: toAnswers(text, kept.answers) }),
    ...(multi_agent !== undefined && { max_concurrent_subagents: toLimit(multi_agent) ?? null }),
  }
}

type AgentOverrides = Pick<AgentUpdate, 'model' | 'system' | 'tools' | 'mcp_servers'>

/** What a session replaces besides the fields of `/v1`. */
export const toSessionOnly = (
  { text, multi_agent }: OpenAIAgentOverrides,
  kept: AgentConfig,
): SessionOnly => {
  const limit = toLimit(multi_agent)
  const answers = text === undefined ? undefined : toAnswers(text, kept.answers)
  return {
    ...(multi_agent !== undefined && { multiagent: toMultiagent(multi_agent, kept.multiagent) }),
    ...(answers && { answers }),
    ...(answers === null && { answers: {} }),
    ...(limit !== undefined && { max_concurrent_subagents: limit ?? mostSubagents }),
  }
}

export function toAgentOverrides(given: OpenAIAgentOverrides, kept: AgentConfig): AgentOverrides {
  const { instructions, tools, model, reasoning, service_tier } = given
  const namesModel = [model, reasoning, service_tier].some((field) => field !== undefined)
  return {
    ...(namesModel ? { model: modelRef(given, kept.model) } : {}),
    ...(instructions === undefined ? {} : { system: instructions }),
    ...(tools === undefined ? {} : toAgentTools(tools ?? [], kept)),
  }
}

/** Builds a merge patch that sets the given keys and removes the others. */
export const replacementPatch = (
  kept: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, string>>,
): Record<string, string | null> => ({
  ...Object.fromEntries(Object.keys(kept).map((key) => [key, null])),
  ...next,
})

/** A team of subagents that the agent defines itself. */
const ownTeam: Multiagent = {
  type: 'multiagent_20261001',
  advisor: { type: 'disabled' },
  subagents: {
    type: 'enabled',
    inline_agents: { type: 'enabled' },
    predefined_agents: [],
  },
  workflows: { type: 'disabled' },
}

const hasSubagents = (multiagent: MultiagentOf<unknown> | null): boolean =>
  multiagent !== null &&
  (multiagent.type === 'coordinator' || multiagent.subagents.type === 'enabled')

/** An enabled team that `/v1` gave to the agent is kept. */
export function toMultiagent(
  given: OpenAIMultiAgent | null | undefined,
  kept: Multiagent | null,
): Multiagent | null {
  if (given === undefined) return kept
  if (!given?.enabled) return null
  return hasSubagents(kept) ? kept : ownTeam
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

export const showSessionAgent = (agent: SessionAgent): OpenAISessionAgent => {
  const { id, name, model, system, tools, mcp_servers, multiagent, answers = {} } = agent
  const { schema, verbosity = 'medium' } = answers
  const { effort = null, speed = null } = typeof model === 'object' ? model : {}
  return {
    id,
    name: name === unnamed ? null : name,
    model: typeof model === 'object' ? model.id : model,
    instructions: system,
    reasoning: { effort: effort?.type ?? null, summary: null },
    service_tier: speed === 'fast' ? 'fast' : 'auto',
    text: { format: schema ? { type: 'json_schema', schema } : { type: 'text' }, verbosity },
    multi_agent: {
      enabled: hasSubagents(multiagent),
      max_concurrent_subagents: hasSubagents(multiagent)
        ? (agent.max_concurrent_subagents ?? mostSubagents)
        : null,
    },
    tools: showTools(tools, mcp_servers),
  }
}

export const showAgent = (agent: Agent): OpenAIAgent => ({
  ...showSessionAgent(agent),
  tools: withHeaders(showTools(agent.tools, agent.mcp_servers)),
  object: 'agent',
  metadata: Object.fromEntries(
    Object.entries(agent.metadata).map(([key, value]) => [key, textOf(value)]),
  ),
  created_at: unixSeconds(agent.created_at),
  updated_at: unixSeconds(agent.updated_at),
})
