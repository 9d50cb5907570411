import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { Id, JsonValue, Metadata } from '../primitives.ts'
import {
  OpenAIAgentOverrides,
  OpenAISessionAgentShown,
  OpenAISessionAgentUpdate,
} from './agents.ts'
import { OpenAIEnvironmentParam, OpenAIEnvironmentShown } from './environments.ts'
import { OpenAIInput } from './inputs.ts'
import { AfterQuery, UnixSeconds, refused, unmet, unsupportedField } from './lists.ts'

const alike = {
  review: refused(
    z.literal('none', unsupportedField('calls of tools that ask wait for a person')),
    '`auto_review`',
  )
    .optional()
    .describe('`none` alone.'),
  prompt_cache_options: unmet(
    z.strictObject({ ttl: z.string().max(64).nullish().describe('How long.') }),
  )
    .nullish()
    .describe('A wish that is not met: the service decides how long prompts are cached.'),
  spend_control: z
    .strictObject({
      limit: z.int().min(1).max(99_999_999_999).nullable().describe('US cents; null for no limit.'),
    })
    .nullish()
    .describe('Most that the session may cost.'),
}

export const OpenAISessionCreate = z
  .strictObject({
    environment: OpenAIEnvironmentParam,
    agent_id: Id.optional().describe('An agent; its newest version is pinned.'),
    agent: OpenAIAgentOverrides.optional(),
    input: OpenAIInput.nullish().describe('Messages that begin the first turn.'),
    metadata: Metadata.nullish(),
    vault_ids: z
      .array(Id)
      .max(50)
      .refine((ids) => new Set(ids).size === ids.length, 'may name each vault once')
      .nullish()
      .describe('Vaults with its credentials; the first that has a credential wins.'),
    stream: z.boolean().optional().describe('Whether the answer is the stream of the first turn.'),
    stream_options: z
      .strictObject({ include_obfuscation: z.boolean().optional().describe('Changes nothing.') })
      .optional()
      .describe('Changes nothing.'),
    ...alike,
  })
  .superRefine(({ agent_id, agent, input, environment, stream }, context) => {
    const require = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    if (agent_id === undefined && agent?.model === undefined)
      require(agent ? ['agent', 'model'] : ['agent_id'], 'is required')
    if (input) return
    if (environment.type === 'none') require(['input'], 'is required for environment none')
    else if (stream) require(['input'], 'is required with stream')
  })
  .meta({
    id: 'OpenAISessionCreateParams',
    examples: [
      {
        agent_id: exampleIds.agent,
        environment: { type: 'openai_hosted' },
        input: 'Review the parser.',
      },
    ],
  })
export type OpenAISessionCreate = z.infer<typeof OpenAISessionCreate>

export const OpenAISessionUpdate = z
  .strictObject({
    agent: OpenAISessionAgentUpdate.optional(),
    metadata: Metadata.nullish().describe('Replaced as a whole.'),
    ...alike,
  })
  .meta({ id: 'OpenAISessionUpdateParams', examples: [{ metadata: { ticket: '17' } }] })
export type OpenAISessionUpdate = z.infer<typeof OpenAISessionUpdate>

export const OpenAISessionListQuery = z.looseObject({
  ...AfterQuery.shape,
  agent_id: Id.optional().describe('Only sessions of this agent.'),
  'metadata[key]': z.string().optional().describe('Only sessions whose metadata has this value.'),
})

export const OpenAIUsage = z
  .object({
    input_tokens: z.int().describe('Cached ones too.'),
    input_tokens_details: z
      .object({ cached_tokens: z.int().describe('Tokens that were read from a cache.') })
      .describe('What is part of `input_tokens`.'),
    output_tokens: z.int().describe('Tokens that models wrote.'),
    output_tokens_details: z
      .object({
        reasoning_tokens: z.int().describe('Tokens of thinking; 0 where they are not told apart.'),
      })
      .describe('What is part of `output_tokens`.'),
    total_tokens: z.int().describe('Both together.'),
  })
  .meta({ id: 'OpenAIUsage', description: 'Tokens of models.' })
export type OpenAIUsage = z.infer<typeof OpenAIUsage>

export const OpenAIRequiredAction = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('function_call'),
      call_id: z.string().describe('Name it in the result of the call.'),
      turn_id: z.string(),
      name: z.string(),
      arguments: z.record(z.string(), JsonValue).describe('As the model wrote them.'),
    }),
    z.object({
      type: z.literal('mcp_approval_request'),
      request_id: z.string().describe('Name it in the answer.'),
      turn_id: z.string(),
      request: z
        .object({
          type: z.literal('mcp_tool_call'),
          server_label: z
            .string()
            .describe('The name of the MCP server; `sandbox` for a built-in tool.'),
          name: z.string().nullable(),
          arguments: z.record(z.string(), JsonValue).describe('As the model wrote them.'),
          message: z.string(),
        })
        .describe('The call that waits for the answer.'),
    }),
  ])
  .meta({ id: 'OpenAIRequiredAction', description: 'What the session waits for.' })
export type OpenAIRequiredAction = z.infer<typeof OpenAIRequiredAction>

export const OpenAISessionShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.session'),
    status: z
      .enum(['idle', 'in_progress', 'requires_action', 'failed'])
      .describe('`failed`: the session takes nothing more.'),
    agent: OpenAISessionAgentShown,
    environment: OpenAIEnvironmentShown,
    required_actions: z.array(OpenAIRequiredAction).describe('Calls that wait for somebody.'),
    error: z.string().nullable().describe('Why the session takes nothing more, or null.'),
    usage: OpenAIUsage.nullable(),
    vault_ids: z.array(z.string()).describe('In the order of their precedence.'),
    metadata: z.record(z.string(), z.string()),
    review: z.literal('none'),
    spend_control: z
      .object({
        limit: z.number().describe('US cents.'),
        consumed: z.number().nullable().describe('Null where a model has no price.'),
      })
      .optional()
      .describe('Most that the session may cost; absent: no limit.'),
    created_at: UnixSeconds,
    last_active_at: UnixSeconds,
  })
  .meta({ id: 'OpenAISession', description: 'One conversation with an agent.' })
export type OpenAISession = z.infer<typeof OpenAISessionShown>
