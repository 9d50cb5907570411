import { z } from 'zod'
import {
  CreatedAtQuery,
  Flag,
  Line,
  ListQuery,
  ProcessText,
  Timestamp,
  wholeNumberFrom,
} from './primitives.ts'
import { Tools } from './tools.ts'

const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const
export const Effort = z.strictObject({ type: z.enum(effortLevels) })

const effortInput = z
  .union([z.enum(effortLevels).transform((type) => ({ type })), Effort])
  .nullish()

/** The object form names a model card; controls belong to the agent version. [agents/model/pinned] */
export const ModelObject = z.strictObject({
  id: z.string().min(1).max(256),
  effort: effortInput,
  speed: z.enum(['standard', 'fast']).nullish(),
  inference_geo: z.enum(['us', 'global']).nullish(),
})
/** The string form is a model identifier. */
export const ModelRef = z.union([z.string().min(1).max(256), ModelObject])
export type ModelRef = z.infer<typeof ModelRef>

export const McpServer = z
  .strictObject({
    name: z.string().min(1).max(255),
    type: z.enum(['url', 'stdio']),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .nullish(),
    authorization_token: z.string().min(1).nullish(),
    stdio: z
      .strictObject({
        command: ProcessText.min(1),
        args: z.array(ProcessText).optional(),
        env: z.record(ProcessText, ProcessText).optional(),
        port: z.int().min(1).max(65535),
        ready_timeout_ms: z.int().positive().default(60_000),
      })
      .nullish(),
  })
  .refine((server) => server.type !== 'url' || server.url, {
    path: ['url'],
    message: 'is required for type url',
  })
  .refine((server) => server.type !== 'stdio' || server.stdio, {
    path: ['stdio'],
    message: 'is required for type stdio',
  })
export type McpServer = z.infer<typeof McpServer>

export const McpServers = z
  .array(McpServer)
  .max(20)
  .refine((servers) => new Set(servers.map((server) => server.name)).size === servers.length, {
    message: 'names must be unique',
  })

const SkillRef = z.strictObject({
  type: z.enum(['anthropic', 'custom']),
  skill_id: z.string().min(1),
  version: z.string().min(1).nullish(),
})
/** A bare string is accepted and binds nothing. [agents/skills/bare-strings] */
export const SkillRefs = z
  .array(z.union([SkillRef, z.string()]))
  .transform((refs) =>
    refs
      .filter((ref) => typeof ref !== 'string')
      .map((ref) => ({ ...ref, version: ref.version ?? 'latest' })),
  )
export type SkillRefs = z.infer<typeof SkillRefs>

/** Typed clients have text alone for metadata. */
const numberOrText = (type: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), type)

/** Typed, and longer than other values may be. [agents/metadata/compaction-keys] */
const compaction = {
  compaction_strategy: z.string(),
  compaction_trigger_fraction: numberOrText(z.number().gt(0).lte(1)),
  compaction_max_summary_tokens: numberOrText(z.int().positive()),
  compaction_summary_prompt: z.string(),
}

function checkMetadata(bag: Record<string, unknown>, context: z.core.$RefinementCtx) {
  for (const [key, value] of Object.entries(bag)) {
    if (value === null) continue
    const typed = Object.hasOwn(compaction, key)
      ? compaction[key as keyof typeof compaction]
      : undefined
    const problem = typed
      ? typed.safeParse(value).error?.issues[0]?.message
      : (typeof value === 'string' ? value : JSON.stringify(value)).length > 512
        ? 'at most 512 characters'
        : undefined
    if (problem) context.addIssue({ code: 'custom', path: [key], message: problem })
  }
  if (Object.keys(bag).length > 16)
    context.addIssue({ code: 'custom', message: 'at most 16 pairs' })
}
/** Values of any JSON type are kept as they came. */
export const AgentMetadata = z
  .record(z.string().min(1).max(64), z.json())
  .superRefine(checkMetadata)

/** Who runs the turns of an agent's sessions; docs/custom-harnesses.md says how to add one. */
const harnessNames = ['default', 'native'] as const

const name = z.string().min(1).max(256)
const fields = {
  model: ModelRef,
  name,
  description: z.string().max(4096).nullish(),
  system: z.string().max(100_000).nullish(),
  tools: Tools.nullish(),
  mcp_servers: McpServers.nullish(),
  skills: SkillRefs.nullish(),
  environment_id: Line.max(256).nullish(),
  memory_store_id: z.string().nullish(),
  harness: z.enum(harnessNames).nullish(),
  metadata: AgentMetadata.nullish(),
  multiagent: z.null({ error: 'multi-agent configurations are not yet supported' }).optional(),
  execution_identity: z
    .strictObject({
      type: z.literal('service_account', { error: 'only service_account is supported' }),
    })
    .nullish(),
}

/** What a caller may set. [agents/create/assigned] */
export const AgentCreate = z.strictObject(fields)
export type AgentCreate = z.infer<typeof AgentCreate>

/** Omitted keeps; `version` is an optimistic guard. [agents/update/omitted] [agents/update/version-guard] */
export const AgentUpdate = z.strictObject({
  ...fields,
  model: ModelRef.optional(),
  name: name.optional(),
  version: z.int().min(1).optional(),
})
export type AgentUpdate = z.infer<typeof AgentUpdate>

/** A server as replies show it: its token is never there. */
export type McpServerShown = Omit<McpServer, 'authorization_token'>

/** What one version fixes. */
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
  metadata: Record<string, unknown>
  multiagent: null
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

/** The reply, for the published description; stores return the type above. */
export const AgentShown = z.looseObject({
  id: z.string(),
  type: z.literal('agent'),
  version: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  system: z.string().nullable(),
  model: z.union([z.string(), z.looseObject({ id: z.string() })]),
  tools: z.array(z.looseObject({ type: z.string() })),
  mcp_servers: z.array(z.looseObject({ name: z.string() })),
  skills: z.array(z.looseObject({ skill_id: z.string() })),
  metadata: z.record(z.string(), z.unknown()),
  environment_id: z.string().nullable(),
  memory_store_id: z.string().nullable(),
  harness: z.string(),
  archived: z.boolean(),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const AgentListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  archived: Flag.optional(),
  include_archived: Flag.optional(),
})
export const AgentGetQuery = z.object({ version: wholeNumberFrom(1).optional() })
