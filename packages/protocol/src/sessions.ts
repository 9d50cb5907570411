import { z } from 'zod'
import { SessionBudget } from './budgets.ts'
import type { Agent } from './agents.ts'
import { McpServers, ModelRef, SessionAgentShown, SkillRefs } from './agents.ts'
import { checkText } from './content.ts'
import { exampleIds } from './example-ids.ts'
import { InitialEvent } from './events.ts'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  TextList,
  UpdatedAt,
  extension,
  includeArchived,
  pageLimit,
} from './primitives.ts'
import type { SessionResource } from './session-resources.ts'
import {
  FileResource,
  MemoryStoreResource,
  RepositoryResource,
  ResourceShown,
} from './session-resources.ts'
import { Tools } from './tools.ts'

const version = z.int().min(1).optional().describe('The newest version when absent.')
const title = Line.max(1024).nullish().describe('What people call the session.')

const AgentChoice = z.union([
  Id,
  z.discriminatedUnion('type', [
    z
      .strictObject({ type: z.literal('agent'), id: Id, version })
      .meta({ id: 'AgentParams', description: 'An agent at one version.' }),
    z
      .strictObject({
        type: z.literal('agent_with_overrides'),
        id: Id,
        version,
        model: ModelRef.optional(),
        system: z.string().max(100_000).nullish(),
        tools: Tools.nullish(),
        mcp_servers: McpServers.nullish(),
        skills: SkillRefs.nullish(),
      })
      .meta({
        id: 'AgentWithOverridesParams',
        description: 'An agent whose named fields are replaced, for this session only.',
      }),
  ]),
])
export type AgentChoice = z.infer<typeof AgentChoice>

/** Kinds of what a session brings in. [sessions/create/resources] */
const Resource = z.discriminatedUnion('type', [
  FileResource,
  RepositoryResource,
  MemoryStoreResource,
])

export const SessionCreate = z
  .strictObject({
    agent: AgentChoice.describe('The id of an agent, or an object that pins a version.'),
    environment_id: Id.nullish().describe(
      'Where its commands run. Required unless the agent names an environment.',
    ),
    title,
    metadata: Metadata.nullish(),
    resources: z.array(Resource).nullish().describe('What the session works on.'),
    vault_ids: z
      .array(Id)
      .max(50)
      .refine((ids) => new Set(ids).size === ids.length, 'may name each vault once')
      .nullish()
      .describe('Vaults with its credentials; the first that has a credential wins.'),
    initial_events: z
      .array(InitialEvent)
      .max(50)
      .superRefine(checkText)
      .nullish()
      .describe('Messages that are posted at once, in order.'),
    budget: SessionBudget.nullish().describe(
      'Most that the session may cost. It cannot be added later.',
    ),
  })
  .meta({
    id: 'SessionCreateParams',
    examples: [
      {
        agent: exampleIds.agent,
        environment_id: exampleIds.environment,
        title: 'Review of the parser',
        initial_events: [
          { type: 'user.message', content: [{ type: 'text', text: 'Review the parser.' }] },
        ],
      },
    ],
  })
export type SessionCreate = z.infer<typeof SessionCreate>

export const SessionUpdate = z
  .strictObject({
    title,
    metadata: MetadataPatch.nullish(),
    agent: z
      .strictObject({ tools: Tools.nullish(), mcp_servers: McpServers.nullish() })
      .nullish()
      .describe('Replaces tools or MCP servers of this session, as wholes.'),
    vault_ids: z
      .undefined({ error: 'the vaults of a session are fixed at its creation' })
      .optional(),
    budget: SessionBudget.nullish().describe(
      'Another budget, above what the session has cost. Null removes it for good.',
    ),
  })
  .meta({ id: 'SessionUpdateParams', examples: [{ title: 'Review of the lexer' }] })
export type SessionUpdate = z.infer<typeof SessionUpdate>

/** Where a session stands, in the interface's words. */
export const sessionStatuses = ['pending', 'running', 'idle', 'done', 'failed'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

/** The agent as the session runs it: the pinned version with the session's overrides. */
export type SessionAgent = Omit<Agent, 'archived' | 'archived_at' | 'created_at' | 'updated_at'>

export type SessionUsage = {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number }
  active_seconds: number
  list_cost: { amount: string; currency: 'USD' } | null
}

export type Session = {
  id: string
  type: 'session'
  agent_id: string
  agent_version: number
  agent: SessionAgent
  environment_id: string
  status: SessionStatus | 'rescheduling'
  title: string | null
  metadata: Record<string, string>
  vault_ids: string[]
  resources: SessionResource[]
  usage: SessionUsage
  stats: { active_seconds: number; duration_seconds: number }
  outcome_evaluations: []
  budget: SessionBudget | null
  archived_at: string | null
  created_at: string
  updated_at: string
}

const shownStatus = z
  .enum([...sessionStatuses, 'rescheduling', 'terminated'])
  .describe(
    'Where the session stands. `terminated` is the word of the official client for `done`, `failed` and archived.',
  )
const count = z.int()
const UsageShown = z
  .looseObject({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: z.object({
      ephemeral_5m_input_tokens: count,
      ephemeral_1h_input_tokens: count,
    }),
    active_seconds: z.number().describe('Seconds in which the session ran.'),
    list_cost: z
      .object({ amount: z.string(), currency: z.literal('USD') })
      .nullable()
      .describe('US cents, rounded half up. Null where a model that was used has no price.'),
  })
  .meta({ id: 'SessionUsage', description: 'Totals of the session so far.' })
const StatsShown = z
  .object({ active_seconds: z.number(), duration_seconds: z.number() })
  .meta({ id: 'SessionStats', description: 'Seconds in which it ran, and since it was created.' })

export const SessionShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('session'),
    status: shownStatus,
    agent_id: z.string().meta(extension('The agent that it was created from.')),
    agent_version: z.int().meta(extension('The version that it pinned.')),
    agent: SessionAgentShown,
    environment_id: z.string(),
    title: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    vault_ids: z.array(z.string()).describe('In the order of their precedence.'),
    resources: z.array(ResourceShown),
    usage: UsageShown,
    stats: StatsShown,
    budget: SessionBudget.nullable(),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Session', description: 'One conversation with an agent in an environment.' })

export const ThreadShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('session_thread'),
    session_id: z.string(),
    parent_thread_id: z.null(),
    agent: SessionAgentShown,
    status: shownStatus,
    stats: StatsShown.nullable(),
    usage: UsageShown.nullable(),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'SessionThread', description: 'The primary thread of a session.' })

const statuses = TextList.optional().describe('Only sessions in one of these states.')
const statusWords = {
  status: statuses.meta(extension('Only sessions in one of these states.')),
  statuses,
}

export const ThreadListQuery = ListQuery.extend(statusWords)

export const SessionListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .describe('By their creation; the newest first when absent.'),
  agent_id: z.string().optional().describe('Only sessions of this agent.'),
  agent_version: pageLimit(1, 2 ** 31 - 1)
    .optional()
    .describe('Only sessions that pinned this version.'),
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional().describe('Only sessions with this memory store.'),
  include_archived: includeArchived,
  ...statusWords,
})
