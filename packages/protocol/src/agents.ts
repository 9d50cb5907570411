import { z } from 'zod'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Flag,
  JsonValue,
  Line,
  ListQuery,
  ProcessText,
  UpdatedAt,
  extension,
  includeArchived,
  wholeNumberFrom,
} from './primitives.ts'
import { CreatedBy } from './created-by.ts'
import { exampleIds } from './example-ids.ts'
import type { Multiagent, MultiagentOf } from './multiagent.ts'
import { MultiagentParams, MultiagentShown, sessionMultiagentShown } from './multiagent.ts'
import { describeProblem } from './problems.ts'
import { Tools } from './tools.ts'

const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const
export const Effort = z.strictObject({ type: z.enum(effortLevels) }).meta({
  id: 'Effort',
  description: 'How much a model thinks, moved to a level that it supports.',
})

const effortInput = z
  .union([z.enum(effortLevels).transform((type) => ({ type })), Effort])
  .nullish()

/**
 * An object names a model card. Controls, such as the effort, belong to the version of the agent. [agents/model/pinned]
 */
export const ModelObject = z
  .strictObject({
    id: z.string().min(1).max(256).describe('The `model_id` of a model card of the workspace.'),
    effort: effortInput.describe('How much the model thinks.'),
    speed: z
      .enum(['standard', 'fast'])
      .nullish()
      .describe("`fast` turns on the provider's fast mode; a provider without one refuses it."),
    inference_geo: z
      .enum(['us', 'global'])
      .nullish()
      .describe('Kept and returned; it has no influence on where a request goes.'),
  })
  .meta({ id: 'ModelConfig', description: 'A model card, with what this agent sets.' })
/** A string is the identifier of a model. */
export const ModelRef = z
  .union([z.string().min(1).max(256), ModelObject])
  .describe('A model: its identifier, or an object that names a model card.')
export type ModelRef = z.infer<typeof ModelRef>

export const McpServer = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(255)
      .describe('Unique in the agent. A tool of the server is called `mcp__<name>__<tool>`.'),
    type: z
      .enum(['url', 'stdio'])
      .describe(
        '`url`: reached over HTTP. `stdio`: a program that the worker of a session starts.',
      ),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .nullish()
      .describe('Required for type `url`.'),
    authorization_token: z
      .string()
      .min(1)
      .nullish()
      .meta(extension('A bearer token for this server. No answer contains it.')),
    stdio: z
      .strictObject({
        command: ProcessText.min(1).describe('The program to start.'),
        args: z.array(ProcessText).optional().describe('Its arguments.'),
        env: z.record(ProcessText, ProcessText).optional().describe('Variables of the program.'),
        port: z.int().min(1).max(65535).describe('Where the program listens, on 127.0.0.1.'),
        ready_timeout_ms: z
          .int()
          .positive()
          .default(60_000)
          .describe('Milliseconds until the program listens at the latest.'),
      })
      .nullish()
      .meta(extension('Required for type `stdio`.')),
  })
  .refine((server) => server.type !== 'url' || server.url, {
    path: ['url'],
    message: 'is required for type url',
  })
  .refine((server) => server.type !== 'stdio' || server.stdio, {
    path: ['stdio'],
    message: 'is required for type stdio',
  })
  .meta({ id: 'MCPServer', description: 'An MCP server whose tools the agent has.' })
export type McpServer = z.infer<typeof McpServer>

export const mostServers = 20

export const McpServers = z
  .array(McpServer)
  .max(mostServers)
  .refine((servers) => new Set(servers.map((server) => server.name)).size === servers.length, {
    message: 'names must be unique',
  })

const SkillRef = z
  .strictObject({
    type: z.enum(['anthropic', 'custom']).describe('`anthropic`: built in. `custom`: uploaded.'),
    skill_id: z.string().min(1),
    version: z.string().min(1).nullish().describe('`latest` when absent.'),
  })
  .meta({ id: 'SkillParams', description: 'A skill that the agent has.' })
/** A bare string is accepted and has no effect. [agents/skills/bare-strings] */
export const SkillRefs = z
  .array(z.union([SkillRef, z.string()]))
  .transform((refs) =>
    refs
      .filter((ref) => typeof ref !== 'string')
      .map((ref) => ({ ...ref, version: ref.version ?? 'latest' })),
  )
export type SkillRefs = z.infer<typeof SkillRefs>

/** Clients with types can send only strings as metadata, so a number may come as text. */
const numberOrText = (type: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), type)

/**
 * Keys of metadata that have a type of their own and may be longer than other values. [agents/metadata/compaction-keys]
 */
const compaction = {
  compaction_strategy: z.string(),
  compaction_trigger_fraction: numberOrText(z.number().gt(0).lte(1)),
  compaction_max_summary_tokens: numberOrText(z.int().positive()),
  compaction_summary_prompt: z.string(),
}

export function checkMetadata(bag: Record<string, unknown>, context: z.core.$RefinementCtx) {
  for (const [key, value] of Object.entries(bag)) {
    if (value === null) continue
    const typed = Object.hasOwn(compaction, key)
      ? compaction[key as keyof typeof compaction]
      : undefined
    const problem = typed
      ? typed.safeParse(value, { error: describeProblem }).error?.issues[0]?.message
      : (typeof value === 'string' ? value : JSON.stringify(value)).length > 512
        ? 'must be at most 512 characters long'
        : undefined
    if (problem) context.addIssue({ code: 'custom', path: [key], message: problem })
  }
  if (Object.keys(bag).length > 16)
    context.addIssue({ code: 'custom', message: 'must have at most 16 pairs' })
}
/** Values of any JSON type are kept as sent. */
export const AgentMetadata = z
  .record(z.string().min(1).max(64), JsonValue)
  .superRefine(checkMetadata)
  .meta({
    id: 'AgentMetadata',
    description:
      'Pairs of your own: at most 16, values of any JSON type. The keys `compaction_…` set how long conversations are shortened.',
  })

/** The longest JSON Schema of answers, as JSON text. */
const longestSchema = 100_000
/** The most child threads that an agent may have working at one time. */
export const mostSubagents = 25

export const Answers = z
  .strictObject({
    verbosity: z
      .enum(['low', 'medium', 'high'])
      .optional()
      .describe('How much the agent writes; its prompt says so. `medium` when absent.'),
    schema: z
      .record(z.string(), JsonValue)
      .refine((schema) => JSON.stringify(schema).length <= longestSchema, {
        error: `must have at most ${longestSchema} characters`,
      })
      .optional()
      .describe(
        'A JSON Schema of the texts. The provider is asked for strict output, and the prompt has the schema.',
      ),
  })
  .meta({ id: 'Answers', description: 'The form of the texts that an agent writes.' })
export type Answers = z.infer<typeof Answers>

/** The harnesses that run the turns of sessions; docs/custom-harnesses.md says how to add a harness. */
const harnessNames = ['default', 'native'] as const

const name = z.string().min(1).max(256).describe('What people call the agent.')
const fields = {
  model: ModelRef,
  name,
  description: z.string().max(4096).nullish().describe('What the agent is for.'),
  system: z
    .string()
    .max(100_000)
    .nullish()
    .describe('The system prompt: who the agent is and how it works.'),
  tools: Tools.nullish().describe(
    'Toolsets and tools of your own, at most 256 tools in all. An update replaces all of them.',
  ),
  mcp_servers: McpServers.nullish().describe('MCP servers, at most 20, each name once.'),
  skills: SkillRefs.nullish().describe('Skills that sessions of the agent have.'),
  environment_id: Line.max(256)
    .nullish()
    .meta(extension('The environment of sessions that name none.')),
  memory_store_id: z
    .string()
    .nullish()
    .meta(extension('A memory store that every session of the agent may read and write.')),
  harness: z.enum(harnessNames).nullish().meta(extension('What runs the turns of its sessions.')),
  answers: Answers.nullish().meta(extension('The form of the texts that it writes.')),
  max_concurrent_subagents: z
    .int()
    .min(1)
    .max(mostSubagents)
    .nullish()
    .meta(
      extension(`Most threads that it may have working at one time; ${mostSubagents} when absent.`),
    ),
  metadata: AgentMetadata.nullish(),
  multiagent: MultiagentParams.nullish().describe(
    'The agents that it may start as threads of its session, and its advisor. Null: it works alone.',
  ),
  execution_identity: z
    .strictObject({
      type: z.literal('service_account', { error: 'only service_account is supported' }),
    })
    .nullish()
    .describe('Only `service_account` is supported.'),
}

/** The fields that a caller may set. [agents/create/assigned] */
export const AgentCreate = z.strictObject(fields).meta({
  id: 'AgentCreateParams',
  examples: [
    {
      name: 'Reviewer',
      model: exampleIds.model,
      system: 'You review pull requests. Run the tests before you answer.',
      tools: [{ type: 'agent_toolset_20260401' }],
    },
    {
      name: 'Lead',
      model: exampleIds.model,
      tools: [],
      multiagent: { type: 'coordinator', agents: [exampleIds.agent, { type: 'self' }] },
    },
  ],
})
export type AgentCreate = z.infer<typeof AgentCreate>

/**
 * An omitted field keeps its value. `version` guards against a change by another caller. [agents/update/omitted]
 * [agents/update/version-guard]
 */
export const AgentUpdate = z
  .strictObject({
    ...fields,
    model: ModelRef.optional(),
    name: name.optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('The version that you have read: 409 where the agent has another by now.'),
  })
  .meta({ id: 'AgentUpdateParams', examples: [{ description: 'Reviews pull requests' }] })
export type AgentUpdate = z.infer<typeof AgentUpdate>

/** An MCP server as replies show it, without its token. */
export type McpServerShown = Omit<McpServer, 'authorization_token'>

/** The fields that are fixed in one version of an agent. */
export type AgentConfig = {
  name: string
  description: string | null
  model: ModelRef
  system: string | null
  tools: Tools
  mcp_servers: McpServerShown[]
  skills: SkillRefs
  environment_id: string | null
  memory_store_id: string | null
  harness: (typeof harnessNames)[number]
  /** Absent when nothing is set, and in versions of before. */
  answers?: Answers
  max_concurrent_subagents?: number
  metadata: Record<string, unknown>
  multiagent: Multiagent | null
  execution_identity: { type: 'service_account' }
}

export type Agent = AgentConfig & {
  id: string
  type: 'agent'
  version: number
  archived: boolean
  archived_at: string | null
  created_at: string
  updated_at: string
}

/** An agent as a thread runs it. A session shows the agents that it may start in this form. */
export type ThreadAgent = Pick<
  Agent,
  | 'id'
  | 'type'
  | 'version'
  | 'name'
  | 'description'
  | 'system'
  | 'model'
  | 'tools'
  | 'mcp_servers'
  | 'skills'
  | 'execution_identity'
>

/** The multiagent configuration of a session's agent: whole agents in place of references to them. */
export type SessionMultiagent = MultiagentOf<ThreadAgent>

/** The reply, for the published description; stores return the types above. */
const shownThreadAgent = {
  id: z.string(),
  type: z.literal('agent'),
  version: z.int().describe('Begins at 1; every change raises it.'),
  name: z.string(),
  description: z.string().nullable(),
  system: z.string().nullable().describe('The system prompt, or null.'),
  model: ModelRef,
  tools: Tools,
  mcp_servers: z
    .array(
      z
        .looseObject({
          name: z.string(),
          type: z.enum(['url', 'stdio']),
          url: z.string().nullish().describe('Where a server of type `url` is reached.'),
          stdio: z.looseObject({}).nullish().meta(extension('The program, for type `stdio`.')),
        })
        .meta({ id: 'MCPServerShown', description: 'An MCP server, without its token.' }),
    )
    .describe('The MCP servers, without their tokens.'),
  skills: z.array(SkillRef).describe('The skills, each with its version.'),
  execution_identity: z
    .looseObject({ type: z.literal('service_account') })
    .describe('Who the agent acts as: always `service_account`.'),
}
const shownConfig = {
  ...shownThreadAgent,
  metadata: z.record(z.string(), JsonValue),
  environment_id: z
    .string()
    .nullable()
    .meta(extension('The environment of sessions that name none.')),
  memory_store_id: z
    .string()
    .nullable()
    .meta(extension('A memory store that every session of the agent may read and write.')),
  harness: z.string().meta(extension('What runs the turns of its sessions.')),
  answers: Answers.optional().meta(extension('The form of the texts that it writes.')),
  max_concurrent_subagents: z
    .int()
    .optional()
    .meta(extension('Most threads that it may have working at one time.')),
}

/** The reply, for the published description; stores return the type above. */
export const AgentShown = z
  .looseObject({
    ...shownConfig,
    multiagent: MultiagentShown,
    archived: z.boolean().meta(extension('Whether it was archived.')),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Agent', description: 'An agent: a model with instructions, tools and skills.' })

/** A version without its config. [agents/versions/creator] */
export const AgentVersionSummary = z
  .object({
    type: z.literal('agent_version_summary'),
    agent_id: z.string(),
    version: z.int().describe('The number of the version.'),
    created_at: CreatedAt,
    created_by: CreatedBy.describe(
      'Who or what has made this version. Null for one of an earlier version of the service.',
    ),
  })
  .meta({ id: 'AgentVersionSummary', description: 'When and by whom a version was made.' })
export type AgentVersionSummary = z.infer<typeof AgentVersionSummary>

export const ThreadAgentShown = z.looseObject(shownThreadAgent).meta({
  id: 'SessionThreadAgent',
  description: 'An agent as a thread of a session runs it.',
})

export const SessionAgentShown = z
  .looseObject({ ...shownConfig, multiagent: sessionMultiagentShown(ThreadAgentShown) })
  .meta({
    id: 'SessionAgent',
    description: 'The agent as the session runs it: the pinned version with its overrides.',
  })

export const AgentListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  archived: Flag.optional().meta(
    extension('`true` lists archived agents alone, `false` the others alone.'),
  ),
  include_archived: includeArchived,
})
export const AgentGetQuery = z.object({
  version: wholeNumberFrom(1).optional().describe('This version; the newest when absent.'),
})
