import { z } from 'zod'
import type { Agent } from './agents.ts'
import { McpServers, ModelRef, SkillRefs } from './agents.ts'
import { checkText } from './content.ts'
import { InitialEvent } from './events.ts'
import {
  CreatedAtQuery,
  Flag,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  TextList,
  Timestamp,
  pageLimit,
} from './primitives.ts'
import type { SessionResource } from './session-resources.ts'
import { FileResource, MemoryStoreResource, RepositoryResource } from './session-resources.ts'
import { Tools } from './tools.ts'

const version = z.int().min(1).optional()
const title = Line.max(1024).nullish()

const AgentChoice = z.union([
  Id,
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('agent'), id: Id, version }),
    z.strictObject({
      type: z.literal('agent_with_overrides'),
      id: Id,
      version,
      model: ModelRef.optional(),
      system: z.string().max(100_000).nullish(),
      tools: Tools.nullish(),
      mcp_servers: McpServers.nullish(),
      skills: SkillRefs.nullish(),
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

export const SessionCreate = z.strictObject({
  agent: AgentChoice,
  /** The agent's own `environment_id` stands in when absent. */
  environment_id: Id.nullish(),
  title,
  metadata: Metadata.nullish(),
  resources: z.array(Resource).nullish(),
  /** Their order is the order of precedence. */
  vault_ids: z
    .array(Id)
    .max(50)
    .refine((ids) => new Set(ids).size === ids.length, 'may name each vault once')
    .nullish(),
  initial_events: z.array(InitialEvent).max(50).superRefine(checkText).nullish(),
  budget: z.null({ error: 'budgets are not yet supported' }).optional(),
})
export type SessionCreate = z.infer<typeof SessionCreate>

export const SessionUpdate = z.strictObject({
  title,
  metadata: MetadataPatch.nullish(),
  agent: z.strictObject({ tools: Tools.nullish(), mcp_servers: McpServers.nullish() }).nullish(),
  vault_ids: z.undefined({ error: 'the vaults of a session are fixed at its creation' }).optional(),
  budget: z.null({ error: 'budgets are not yet supported' }).optional(),
})
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
  budget: null
  archived_at: string | null
  created_at: string
  updated_at: string
}

export const SessionShown = z.looseObject({
  id: z.string(),
  type: z.literal('session'),
  status: z.enum([...sessionStatuses, 'rescheduling', 'terminated']),
  agent_id: z.string(),
  agent_version: z.int(),
  agent: z.looseObject({ id: z.string(), version: z.int() }),
  environment_id: z.string(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  vault_ids: z.array(z.string()),
  resources: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({}),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const statusWords = { status: TextList.optional(), statuses: TextList.optional() }

export const ThreadListQuery = ListQuery.extend(statusWords)

export const SessionListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  order: z.enum(['asc', 'desc']).optional(),
  agent_id: z.string().optional(),
  agent_version: pageLimit(1, 2 ** 31 - 1).optional(),
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional(),
  include_archived: Flag.optional(),
  ...statusWords,
})
