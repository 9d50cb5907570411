/**
 * The agents that an agent may start as threads of its session, and the model that it may ask for advice.
 * [agents/field/multiagent]
 */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { Id } from './primitives.ts'

/** The most agents in one list. */
const mostMembers = 20

/** The name of an advisor among the agents of a coordinator. No agent in a list may have this name. */
export const advisorName = 'anthropic.advisor'

const modelName = z.string().min(1).max(256).describe('The identifier of a model.')

export const AgentParams = z
  .strictObject({
    type: z.literal('agent'),
    id: Id,
    version: z.int().min(1).optional().describe('The newest version when absent.'),
  })
  .meta({ id: 'AgentParams', description: 'An agent at one version.' })

const Self = z
  .strictObject({ type: z.literal('self') })
  .meta({ id: 'MultiagentSelfParams', description: 'The agent that has this configuration.' })

const Advisor = z.strictObject({ type: z.literal('advisor'), model: modelName }).meta({
  id: 'Advisor',
  description: `A model that the primary thread may ask for advice. It has the name \`${advisorName}\`.`,
})

const MemberParams = z
  .union([Id, z.discriminatedUnion('type', [AgentParams, Self])])
  .describe('The id of an agent, a reference to one version of it, or `self`.')

const DisabledLevel = z.strictObject({ type: z.literal('disabled') })
const InlineAgents = z
  .strictObject({ type: z.enum(['enabled', 'disabled']) })
  .describe('Whether the agent may define agents of its own when it starts threads.')

const CoordinatorParams = z
  .strictObject({
    type: z.literal('coordinator'),
    agents: z
      .array(z.union([Id, z.discriminatedUnion('type', [AgentParams, Self, Advisor])]))
      .min(1)
      .max(mostMembers)
      .describe('Agents that it may start, each once, and at most one advisor.'),
  })
  .meta({
    id: 'MultiagentCoordinatorParams',
    description: 'An agent that starts agents of a list as threads of its session.',
    examples: [{ type: 'coordinator', agents: [exampleIds.agent, { type: 'self' }] }],
  })

const AdvisorParams = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), model: modelName }),
  DisabledLevel,
])

const SubagentsParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    inline_agents: InlineAgents.nullish().describe('Enabled when absent or null.'),
    predefined_agents: z
      .array(MemberParams)
      .max(mostMembers)
      .nullish()
      .describe('Agents that it may start, each once; none when absent or null.'),
  }),
  DisabledLevel,
])

const noWorkflows = 'not yet supported: send {"type": "disabled"}'

const LevelsParams = z
  .strictObject({
    type: z.literal('multiagent_20261001'),
    advisor: AdvisorParams.nullish().describe('Disabled when absent or null.'),
    subagents: SubagentsParams.nullish().describe(
      'Whether it may start threads. Enabled when absent or null.',
    ),
    workflows: z
      .strictObject({ type: z.literal('disabled', { error: noWorkflows }) })
      .nullish()
      .describe('Must be disabled: workflows are not yet supported.'),
  })
  .meta({
    id: 'Multiagent20261001Params',
    description:
      'An advisor, threads and workflows, each enabled or disabled. An update is merged into a stored configuration of this type, level by level.',
    examples: [
      {
        type: 'multiagent_20261001',
        advisor: { type: 'enabled', model: exampleIds.model },
        subagents: { type: 'enabled', predefined_agents: [exampleIds.agent] },
        workflows: { type: 'disabled' },
      },
    ],
  })

export const MultiagentParams = z
  .discriminatedUnion('type', [CoordinatorParams, LevelsParams])
  .meta({ id: 'MultiagentParams', description: 'How an agent works with other agents.' })
export type MultiagentParams = z.infer<typeof MultiagentParams>
export type MemberParams = z.infer<typeof MemberParams>

export type AgentReference = { type: 'agent'; id: string; version: number }
export type Advisor = z.infer<typeof Advisor>
type DisabledLevel = { type: 'disabled' }

type MultiagentLevels<Member> = {
  type: 'multiagent_20261001'
  advisor: { type: 'enabled'; model: string } | DisabledLevel
  subagents:
    | {
        type: 'enabled'
        inline_agents: z.infer<typeof InlineAgents>
        predefined_agents: Member[]
      }
    | DisabledLevel
  workflows: DisabledLevel
}

/** A multiagent configuration with every level present. `Member`: the form in which agents are named or shown. */
export type MultiagentOf<Member> =
  | { type: 'coordinator'; agents: (Member | Advisor)[] }
  | MultiagentLevels<Member>

/** The configuration of an agent: each reference names one version. */
export type Multiagent = MultiagentOf<AgentReference>

export const isAdvisor = <Member>(entry: Member | Advisor): entry is Advisor =>
  typeof entry === 'object' && entry !== null && 'type' in entry && entry.type === 'advisor'

const without = <Member>(entries: readonly (Member | Advisor)[]): Member[] =>
  entries.flatMap((entry) => (isAdvisor(entry) ? [] : [entry]))

/** The agents that may be started, without the advisor. */
export function membersOf<Member>(multiagent: MultiagentOf<Member> | null): Member[] {
  if (!multiagent) return []
  if (multiagent.type === 'coordinator') return without(multiagent.agents)
  return multiagent.subagents.type === 'enabled' ? multiagent.subagents.predefined_agents : []
}

/** The model that the primary thread may ask for advice. */
export function advisorModel(multiagent: MultiagentOf<unknown> | null): string | undefined {
  if (multiagent === null) return undefined
  if (multiagent.type === 'coordinator') return multiagent.agents.find(isAdvisor)?.model
  return multiagent.advisor.type === 'enabled' ? multiagent.advisor.model : undefined
}

/** The same configuration with the given members. An advisor among the agents of a coordinator comes last. */
export function withMembers<From, To>(
  multiagent: MultiagentOf<From>,
  members: readonly To[],
): MultiagentOf<To> {
  if (multiagent.type === 'coordinator')
    return { type: 'coordinator', agents: [...members, ...multiagent.agents.filter(isAdvisor)] }
  const { subagents } = multiagent
  return {
    ...multiagent,
    subagents:
      subagents.type === 'enabled' ? { ...subagents, predefined_agents: [...members] } : subagents,
  }
}

/** The path of the list of agents in a request. */
export const agentsPath = ({ type }: { type: MultiagentOf<unknown>['type'] }): string =>
  type === 'coordinator' ? 'multiagent.agents' : 'multiagent.subagents.predefined_agents'

/** The reply, for the published description. `Member`: the form in which an agent is shown. */
const shown = <Member extends z.ZodType>(
  Member: Member,
  [coordinator, levels]: [string, string],
  word: string,
) =>
  z
    .discriminatedUnion('type', [
      z
        .object({
          type: z.literal('coordinator'),
          agents: z
            .array(z.union([Member, Advisor]))
            .describe('The agents that it may start; an advisor among them comes last.'),
        })
        .meta({ id: coordinator, description: `A coordinator with ${word}.` }),
      z
        .object({
          type: z.literal('multiagent_20261001'),
          advisor: AdvisorParams.describe('The model that the primary thread may ask for advice.'),
          subagents: z
            .discriminatedUnion('type', [
              z.object({
                type: z.literal('enabled'),
                inline_agents: InlineAgents,
                predefined_agents: z.array(Member).describe('The agents that it may start.'),
              }),
              DisabledLevel,
            ])
            .describe('Whether the agent may start threads, and which agents run them.'),
          workflows: DisabledLevel.describe('Always disabled.'),
        })
        .meta({ id: levels, description: `Every level, with ${word}.` }),
    ])
    .nullable()
    .describe('How the agent works with other agents. Null: it works alone.')

const AgentReferenceShown = z
  .object({
    type: z.literal('agent'),
    id: z.string(),
    version: z.int().describe('The version that is pinned.'),
  })
  .meta({ id: 'AgentReference', description: 'One version of an agent.' })

export const MultiagentShown = shown(
  AgentReferenceShown,
  ['MultiagentCoordinator', 'Multiagent20261001'],
  'references to agents',
)

export const sessionMultiagentShown = <Member extends z.ZodType>(ThreadAgent: Member) =>
  shown(
    ThreadAgent,
    ['SessionMultiagentCoordinator', 'SessionMultiagent20261001'],
    'agents as their threads run them',
  )
