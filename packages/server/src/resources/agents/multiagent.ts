/**
 * An agent's `multiagent` after a request: every level present, agents still as the request names them. No rows here.
 */
import type { Agent, AgentConfig } from '@steward/protocol/agents.ts'
import type { MemberParams, MultiagentOf, MultiagentParams } from '@steward/protocol/multiagent.ts'
import { membersOf, withMembers } from '@steward/protocol/multiagent.ts'
import { invalid } from '../../ground/core/errors.ts'

export type RequestedMultiagent = MultiagentOf<MemberParams>
type LevelsRoster = Extract<RequestedMultiagent, { type: 'multiagent_20261001' }>
type LevelsRosterParams = Extract<MultiagentParams, { type: 'multiagent_20261001' }>

const defaults = {
  advisor: { type: 'disabled' },
  subagents: { type: 'enabled', inline_agents: { type: 'enabled' }, predefined_agents: [] },
} as const satisfies Partial<LevelsRoster>

/**
 * Two configurations of type `multiagent_20261001` are merged level by level: what is left out stays, null is the
 * default. Any other pair is a replacement. [agents/multiagent/merge]
 */
export function mergeMultiagent(
  kept: RequestedMultiagent | null,
  asked: MultiagentParams,
): RequestedMultiagent {
  if (asked.type === 'coordinator') return asked
  const before = kept?.type === 'multiagent_20261001' ? kept : undefined
  return {
    type: asked.type,
    advisor: asked.advisor === undefined ? (before?.advisor ?? defaults.advisor) : advisorOf(asked),
    subagents: subagentsOf(before?.subagents, asked.subagents),
    workflows: workflowsOf(before, asked),
  }
}

const advisorOf = ({ advisor }: LevelsRosterParams) => advisor ?? defaults.advisor

function subagentsOf(
  kept: LevelsRoster['subagents'] | undefined,
  asked: LevelsRosterParams['subagents'],
): LevelsRoster['subagents'] {
  if (asked === undefined) return kept ?? newList(defaults.subagents)
  if (asked === null) return newList(defaults.subagents)
  if (asked.type === 'disabled') return asked
  const before = kept?.type === 'enabled' ? kept : defaults.subagents
  const { inline_agents, predefined_agents } = asked
  return {
    type: 'enabled',
    inline_agents: orKept(inline_agents, before.inline_agents, defaults.subagents.inline_agents),
    predefined_agents: [...orKept(predefined_agents, before.predefined_agents, [])],
  }
}

const newList = ({ predefined_agents, ...rest }: typeof defaults.subagents) => ({
  ...rest,
  predefined_agents: [...predefined_agents],
})

const orKept = <T>(asked: T | null | undefined, kept: T, preset: T): T =>
  asked === undefined ? kept : (asked ?? preset)

/**
 * Workflows are enabled by default, so a request must disable them as long as there are none.
 * [agents/multiagent/workflows]
 */
function workflowsOf(
  kept: LevelsRoster | undefined,
  { workflows }: LevelsRosterParams,
): LevelsRoster['workflows'] {
  const next = workflows === undefined ? kept?.workflows : workflows
  if (next) return next
  throw invalid(
    'multiagent.workflows: enabled by default, and not yet supported: send {"type": "disabled"}',
  )
}

/** References of the agent to itself name the version that is saved. */
export function stampSelf<Config extends Pick<AgentConfig, 'multiagent'>>(
  config: Config,
  { id, version }: Pick<Agent, 'id' | 'version'>,
): Config {
  const { multiagent } = config
  const members = membersOf(multiagent)
  if (multiagent === null || !members.some((member) => member.id === id)) return config
  const stamped = members.map((member) => (member.id === id ? { ...member, version } : member))
  return { ...config, multiagent: withMembers(multiagent, stamped) }
}
