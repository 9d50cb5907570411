import { z } from 'zod'
import { SessionBudget } from './budgets.ts'
import type { Agent, SessionMultiagent } from './agents.ts'
import { McpServers, SessionAgentShown, ThreadAgentShown } from './agents.ts'
import { checkText } from './content.ts'
import { exampleIds } from './example-ids.ts'
import { InitialEvent } from './events.ts'
import { ForkedFrom } from './forks.ts'
import type { OutcomeEvaluation } from './outcomes.ts'
import { OutcomeEvaluationShown } from './outcomes.ts'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Id,
  ListQuery,
  Metadata,
  MetadataPatch,
  WordList,
  listOfWords,
  Timestamp,
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
import { AgentChoice, sessionTitle } from './session-choices.ts'
import { Tools } from './tools.ts'
import { WaitingOn, waitFilterWords } from './waiting-on.ts'

/** The types of resources that a session may have. [sessions/create/resources] */
export const Resource = z.discriminatedUnion('type', [
  FileResource,
  RepositoryResource,
  MemoryStoreResource,
])

export const VaultIds = z
  .array(Id)
  .max(50)
  .refine((ids) => new Set(ids).size === ids.length, 'may name each vault once')
  .describe('Vaults with its credentials; the first that has a credential wins.')

export const SessionCreate = z
  .strictObject({
    agent: AgentChoice.describe('The id of an agent, or an object that pins a version.'),
    environment_id: Id.nullish().describe(
      'Where its commands run. Required unless the agent names an environment.',
    ),
    title: sessionTitle,
    metadata: Metadata.nullish(),
    resources: z.array(Resource).nullish().describe('What the session works on.'),
    vault_ids: VaultIds.nullish(),
    initial_events: z
      .array(InitialEvent)
      .max(50)
      .superRefine((events, context) =>
        checkText(
          events.map((event) => ('content' in event ? event : {})),
          context,
        ),
      )
      .refine(
        (events) => events.filter(({ type }) => type === 'user.define_outcome').length <= 1,
        'may define one outcome',
      )
      .nullish()
      .describe('Messages that are posted at once, in order, and at most one outcome.'),
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
    title: sessionTitle,
    metadata: MetadataPatch.nullish(),
    agent: z
      .strictObject({
        tools: Tools.nullish().describe('Null or empty: no tools.'),
        mcp_servers: McpServers.nullish().describe('Null or empty: no MCP servers.'),
      })
      .nullish()
      .describe('Replaces tools or MCP servers of this session, as wholes.'),
    vault_ids: z
      .undefined({ error: 'the vaults of a session are fixed at its creation' })
      .optional()
      .describe('Refused: the vaults of a session are fixed at its creation.'),
    budget: SessionBudget.nullish().describe(
      'Another budget, above what the session has cost. Null removes it for good.',
    ),
  })
  .meta({ id: 'SessionUpdateParams', examples: [{ title: 'Review of the lexer' }] })
export type SessionUpdate = z.infer<typeof SessionUpdate>

/** The states of a session, in the interface's words. */
export const sessionStatuses = ['pending', 'running', 'idle', 'done', 'failed'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

/** The agent as the session runs it: the pinned version with the session's overrides. */
export type SessionAgent = Omit<Agent, 'archived' | 'archived_at' | 'created_at' | 'updated_at'>

/** `SessionAgent` as replies show it. */
export type ShownSessionAgent = Omit<SessionAgent, 'multiagent'> & {
  multiagent: SessionMultiagent | null
}

export type SessionUsage = {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number }
  active_seconds: number
  list_cost: { amount: string; currency: 'USD' } | null
  server_tool_use: { web_search_requests: number; web_fetch_requests: number }
}

export type Session = {
  id: string
  type: 'session'
  agent_id: string
  agent_version: number
  agent: ShownSessionAgent
  environment_id: string
  status: SessionStatus | 'rescheduling'
  title: string | null
  metadata: Record<string, string>
  vault_ids: string[]
  deployment_id: string | null
  resources: SessionResource[]
  usage: SessionUsage
  stats: { active_seconds: number; duration_seconds: number }
  outcome_evaluations: OutcomeEvaluation[]
  budget: SessionBudget | null
  forked_from: ForkedFrom | null
  wakeup_at: string | null
  waiting_on?: WaitingOn
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
    input_tokens: count.describe('Tokens that models read, cached ones excepted.'),
    output_tokens: count.describe('Tokens that models wrote.'),
    cache_read_input_tokens: count.describe('Tokens that were read from a cache.'),
    cache_creation: z
      .object({
        ephemeral_5m_input_tokens: count.describe(
          'Tokens that were written to a cache for five minutes.',
        ),
        ephemeral_1h_input_tokens: count.describe(
          'Tokens that were written to a cache for an hour.',
        ),
      })
      .describe('Tokens that were written to a cache.'),
    active_seconds: z.number().describe('Seconds in which the session ran.'),
    list_cost: z
      .object({ amount: z.string().describe('US cents, as text.'), currency: z.literal('USD') })
      .nullable()
      .describe('US cents, rounded half up. Null where a model that was used has no price.'),
    server_tool_use: z
      .object({
        web_search_requests: count.describe('Searches that the search engine has answered.'),
        web_fetch_requests: count.describe('Always 0.'),
      })
      .describe('Requests of the web tools.'),
  })
  .meta({ id: 'SessionUsage', description: 'Totals of the session so far.' })
const StatsShown = z
  .object({
    active_seconds: z.number().describe('Seconds in which turns ran.'),
    duration_seconds: z.number().describe('Seconds since the creation.'),
  })
  .meta({ id: 'SessionStats', description: 'Seconds in which it ran, and since it was created.' })

const ThreadStatsShown = StatsShown.extend({
  startup_seconds: z
    .number()
    .describe('Seconds until the first turn began; 0 for a thread that another one has started.'),
}).meta({
  id: 'SessionThreadStats',
  description: 'Seconds in which it ran, since it was created, and until it began.',
})

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
    deployment_id: z.string().nullable().describe('The deployment that has created it.'),
    resources: z
      .array(ResourceShown)
      .describe('The files, repositories and memory stores of the session.'),
    usage: UsageShown,
    stats: StatsShown,
    outcome_evaluations: z
      .array(OutcomeEvaluationShown)
      .describe('Every outcome that was defined in the session, in order.'),
    budget: SessionBudget.nullable(),
    forked_from: ForkedFrom,
    wakeup_at: Timestamp.nullable().meta(
      extension('When the session goes on by itself, because its agent has asked for it.'),
    ),
    waiting_on: WaitingOn.optional().meta(
      extension('Why the session does not go on. Absent with `anthropic-version`.'),
    ),
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
    parent_thread_id: z.string().nullable().describe('Null for the primary thread.'),
    agent: z
      .union([
        ThreadAgentShown,
        z.looseObject({ type: z.literal('inline'), name: z.string() }),
        z.looseObject({ type: z.literal('advisor') }),
      ])
      .describe('What runs it. `inline`: an agent that its parent has defined.'),
    status: shownStatus,
    stats: ThreadStatsShown.nullable(),
    usage: UsageShown.nullable(),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'SessionThread', description: 'One agent at work in a session.' })

/** Words of both dialects. */
const filterWords = [...sessionStatuses, 'rescheduling', 'terminated']
const statuses = listOfWords(filterWords)
  .optional()
  .describe('Only sessions in one of these states.')
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
  deployment_id: z.string().optional().describe('Only sessions that this deployment has created.'),
  memory_store_id: z.string().optional().describe('Only sessions with this memory store.'),
  include_archived: includeArchived,
  waiting_on: WordList(waitFilterWords)
    .optional()
    .meta(
      extension(
        'Only sessions that wait for one of these: a type of wait, `person`, `machine` or `money` for all waits that these end, or `any`.',
      ),
    ),
  ...statusWords,
})
