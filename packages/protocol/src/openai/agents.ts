import { z } from 'zod'
import { JsonValue, Metadata } from '../primitives.ts'
import { exampleIds } from '../example-ids.ts'
import { UnixSeconds, refused, unmet, unsupportedField } from './lists.ts'
import { Answers, checkMetadata, mostSubagents } from '../agents.ts'
import { OpenAIToolShown, OpenAITools } from './tools.ts'

export const openaiEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export const serviceTiers = ['auto', 'default', 'flex', 'priority', 'fast', 'ultrafast'] as const

const Effort = z
  .enum(openaiEfforts)
  .nullish()
  .describe('How much the model thinks; `none` and `minimal` are its lowest level.')
const Reasoning = z
  .strictObject({
    effort: Effort,
    summary: unmet(z.enum(['auto', 'concise', 'detailed']))
      .nullish()
      .describe('A wish that is not met: reasoning items have no summary.'),
  })
  .meta({ id: 'OpenAIReasoningParams', description: 'How the model reasons.' })

const Tier = unmet(z.enum(serviceTiers), '`flex`')
  .nullish()
  .describe(
    'A wish: `fast`, `priority` and `ultrafast` turn on the fast mode of a provider that has one.',
  )

const { schema, verbosity } = Answers.shape
const Text = z
  .strictObject({
    format: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text') }),
        z.strictObject({
          type: z.literal('json_schema'),
          schema: schema.unwrap().describe('The JSON Schema of the answer.'),
        }),
      ])
      .nullish()
      .describe('Plain text when absent, or JSON that matches a schema.'),
    verbosity: verbosity.nullable().describe('How much the agent writes; `medium` when absent.'),
  })
  .meta({ id: 'OpenAITextParams', description: 'The form of the texts that the agent writes.' })

const off = (wayOut: string) => refused(z.literal(false, unsupportedField(wayOut)))
const MultiAgent = z
  .strictObject({
    enabled: z.boolean().describe('Whether it may start agents that it defines itself.'),
    max_concurrent_subagents: z
      .int()
      .min(1)
      .nullish()
      .describe(`Most subagents that work at one time; ${mostSubagents} at most.`),
  })
  .meta({ id: 'OpenAIMultiAgentParams', description: 'Subagents of an agent.' })
export type OpenAIMultiAgent = z.infer<typeof MultiAgent>

const instructions = z
  .string()
  .max(100_000)
  .nullish()
  .describe('The system prompt: who the agent is and how it works.')
const model = z
  .string()
  .min(1)
  .max(256)
  .describe('The handle of a model card, or the identifier of a model.')

/** Fields that agents and sessions have in common. */
const shared = {
  instructions,
  reasoning: Reasoning.nullish().describe('How the model reasons.'),
  service_tier: Tier,
  text: Text.nullish().describe('The form of the texts that the agent writes.'),
  multi_agent: MultiAgent.nullish().describe('Whether the agent may start subagents.'),
  compaction: z
    .strictObject({
      async: unmet(z.boolean())
        .nullish()
        .describe('A wish that is not met: conversations are shortened between requests.'),
    })
    .nullish()
    .describe('Long conversations are always shortened.'),
  experimental: z
    .strictObject({ time_awareness: off('say the time in a message').optional() })
    .optional()
    .describe('Nothing in it can be turned on.'),
}

/** The tools of an agent, without credentials: credentials for MCP servers belong to sessions and vaults. */
const PersistedTools = refused(
  OpenAITools.superRefine((tools, context) => {
    for (const [index, tool] of tools.entries())
      if (tool.type === 'mcp' && tool.transport.authorization)
        context.addIssue({
          code: 'custom',
          path: [index, 'transport', 'authorization'],
          message: 'is for sessions alone: an agent keeps no credentials',
        })
  }),
  '`transport.authorization`, which sessions take',
)
  .nullish()
  .describe('Replaced as a whole.')
/** Checks the keys of metadata that have a meaning for agents. */
const AgentMetadata = Metadata.superRefine(checkMetadata)
const name = z.string().min(1).max(256).nullish().describe('What people call the agent.')

export const OpenAIAgentCreate = z
  .strictObject({
    model,
    name,
    metadata: AgentMetadata.nullish(),
    tools: PersistedTools,
    ...shared,
  })
  .meta({
    id: 'OpenAIAgentCreateParams',
    examples: [{ name: 'Reviewer', model: exampleIds.model, instructions: 'You review code.' }],
  })
export type OpenAIAgentCreate = z.infer<typeof OpenAIAgentCreate>

/** An omitted field keeps its value, and null clears it. `metadata` and `tools` are replaced as wholes. */
export const OpenAIAgentUpdate = z
  .strictObject({
    model: model.optional(),
    name,
    metadata: AgentMetadata.nullish(),
    tools: PersistedTools,
    ...shared,
  })
  .meta({ id: 'OpenAIAgentUpdateParams', examples: [{ instructions: 'Run the tests first.' }] })
export type OpenAIAgentUpdate = z.infer<typeof OpenAIAgentUpdate>

/** The agent of a session: changes to a stored agent, or a whole agent without an id. */
export const OpenAIAgentOverrides = z
  .strictObject({
    model: model.optional().describe('Required without `agent_id`.'),
    tools: OpenAITools.nullish().describe('Replace all tools of the agent.'),
    ...shared,
  })
  .meta({ id: 'OpenAISessionAgentParams', description: 'Fields that replace those of the agent.' })
export type OpenAIAgentOverrides = z.infer<typeof OpenAIAgentOverrides>

export const OpenAISessionAgentUpdate = z
  .strictObject({
    model: model.optional(),
    reasoning: z.strictObject({ effort: Effort }).optional().describe('How the model reasons.'),
    service_tier: Tier,
    tools: OpenAITools.nullish().describe('Replace all tools of the session.'),
  })
  .meta({ id: 'OpenAISessionAgentUpdateParams', description: 'For the turns to come.' })
export type OpenAISessionAgentUpdate = z.infer<typeof OpenAISessionAgentUpdate>

const shown = {
  id: z.string(),
  name: z.string().nullable(),
  model: z.string().describe('The handle of a model card, or the identifier of a model.'),
  instructions: z.string().nullable().describe('The system prompt, or null.'),
  reasoning: z
    .object({
      effort: z.enum(openaiEfforts).nullable().describe('The level that is applied.'),
      summary: z.null().describe('Always null: reasoning items have no summary.'),
    })
    .describe('How the model reasons.'),
  service_tier: z.enum(serviceTiers).describe('`fast` where the fast mode is on, else `auto`.'),
  text: z
    .object({
      format: z
        .discriminatedUnion('type', [
          z.object({ type: z.literal('text') }),
          z.object({
            type: z.literal('json_schema'),
            schema: z.record(z.string(), JsonValue).describe('The JSON Schema of the answer.'),
          }),
        ])
        .describe('Plain text, or JSON that matches a schema.'),
      verbosity: z.enum(['low', 'medium', 'high']).describe('How much the agent writes.'),
    })
    .describe('The form of the texts that the agent writes.'),
  multi_agent: z
    .object({
      enabled: z.boolean().describe('Whether it may start agents that it defines itself.'),
      max_concurrent_subagents: z
        .int()
        .nullable()
        .describe('Most subagents that work at one time; null where it may start none.'),
    })
    .describe('Whether the agent may start subagents.'),
  tools: z.array(OpenAIToolShown).describe('The tools of the agent.'),
}

export const OpenAIAgentShown = z
  .object({
    ...shown,
    object: z.literal('agent'),
    metadata: z.record(z.string(), z.string()),
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  })
  .meta({ id: 'OpenAIAgent', description: 'An agent in its newest version.' })
export type OpenAIAgent = z.infer<typeof OpenAIAgentShown>

export const OpenAISessionAgentShown = z
  .object(shown)
  .meta({ id: 'OpenAISessionAgent', description: 'The agent as the session runs it.' })
export type OpenAISessionAgent = z.infer<typeof OpenAISessionAgentShown>
