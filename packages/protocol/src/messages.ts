/** Requests and answers of `/v1/messages`, in the shapes of the official client. */
import { z } from 'zod'
import { extension, Id } from './primitives.ts'

/** A part of a request that is passed on, or translated, by its type. */
const Part = z.looseObject({ type: z.string().min(1).max(100) })
export type MessagePart = z.infer<typeof Part>

const Said = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']).describe('Who says it.'),
  content: z.union([z.string(), z.array(Part)]).describe('A text, or blocks.'),
})
export type SaidMessage = z.infer<typeof Said>

const fraction = z.number().min(0).max(1)

/** Tools that the caller runs. A version stands behind the name, as in `bash_20250124`. */
const ownTools =
  /^(custom|(bash|text_editor|computer|memory|browser_toolset|computer_toolset)_\d{8})$/

const Tool = z.looseObject({ type: z.string().nullish() }).superRefine(({ type }, context) => {
  if (type === undefined || type === null || ownTools.test(type)) return
  context.addIssue({
    code: 'custom',
    path: ['type'],
    message: `${type} is run by the provider, which is not counted here: give a tool that your program runs, or use a session`,
  })
})

/** What the provider leaves out of a conversation. A summary is a request of its own, which the answer's usage lacks. */
const ContextManagement = z.looseObject({
  edits: z
    .array(
      z.looseObject({
        type: z.string().refine((type) => !type.startsWith('compact_'), {
          error:
            'is not supported by this service, as its tokens are not counted: shorten the conversation in your program',
        }),
      }),
    )
    .nullish()
    .describe('Edits of the conversation, which the provider makes.'),
})

const refused = (way: string) =>
  z
    .null({ error: `is not supported by this service: ${way}` })
    .optional()
    .describe('Refused.')

const asked = {
  model: Id.describe('A model of the workspace, as `GET /v1/models` lists them.'),
  messages: z.array(Said).min(1).max(100_000).describe('The conversation.'),
  system: z
    .union([z.string(), z.array(Part)])
    .nullish()
    .describe('The system prompt.'),
  tools: z.array(Tool).max(1_000).nullish().describe('Tools that the caller runs.'),
  tool_choice: Part.nullish().describe('Whether a tool is called, and which.'),
  thinking: Part.nullish().describe('Whether the model thinks, and how much.'),
  output_config: z.looseObject({}).nullish().describe('The effort, or the form of the answer.'),
  output_format: z.looseObject({}).nullish().describe('The form of the answer.'),
  context_management: ContextManagement.nullish().describe('What the provider leaves out.'),
  cache_control: z.looseObject({}).nullish().describe('Where the provider caches.'),
  mcp_servers: refused('name the servers in an agent, or call their tools in your program'),
  container: refused('use a session, which has a sandbox'),
  speed: z
    .literal('standard', {
      error: "must be standard, whose price is known: fast is a field of an agent's model",
    })
    .nullish()
    .describe('The usual speed alone.'),
  fallbacks: refused('name one model, and ask again'),
  compaction: refused('shorten the conversation in your program'),
}

export const MessageCreateParams = z
  .strictObject({
    ...asked,
    max_tokens: z.int().min(1).max(100_000_000).describe('The most tokens of the answer.'),
    stream: z.boolean().nullish().describe('Whether the answer is a stream of events.'),
    temperature: fraction.nullish().describe('How freely the model chooses.'),
    top_p: fraction.nullish().describe('The share of likely tokens that it chooses from.'),
    top_k: z.int().min(0).nullish().describe('The number of tokens that it chooses from.'),
    stop_sequences: z
      .array(z.string().min(1))
      .max(100)
      .nullish()
      .describe('Texts at which the answer ends.'),
    metadata: z.looseObject({}).nullish().describe('Passed on where the provider has this field.'),
    service_tier: z
      .enum(['auto', 'standard_only'])
      .nullish()
      .describe('Which capacity of the provider serves the request.'),
    inference_geo: z.string().nullish().describe('Where the provider runs the model.'),
    diagnostics: z.looseObject({}).nullish().describe('What the provider tells of its cache.'),
  })
  .meta({
    id: 'ModelMessageParams',
    description: 'A conversation that a model goes on with.',
    examples: [
      { model: 'offline', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
    ],
  })
export type MessageCreateParams = z.infer<typeof MessageCreateParams>

export const TokenCountParams = z.strictObject(asked).meta({
  id: 'ModelMessageCountParams',
  description: 'What to count.',
  examples: [{ model: 'offline', messages: [{ role: 'user', content: 'Hello' }] }],
})
export type TokenCountParams = z.infer<typeof TokenCountParams>

const count = z.int()

export const MessageShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().describe('The name that the request gave.'),
    content: z.array(Part).describe('Texts, thoughts and calls of tools.'),
    stop_reason: z.string().nullable().describe('Why the answer ends.'),
    stop_sequence: z.string().nullable().describe('The text at which it ended, or null.'),
    usage: z
      .looseObject({
        input_tokens: count.describe('Tokens that the model read, cached ones excepted.'),
        output_tokens: count.describe('Tokens that the model wrote.'),
        cache_read_input_tokens: count.nullish().describe('Tokens that were read from a cache.'),
        cache_creation_input_tokens: count
          .nullish()
          .describe('Tokens that were written to a cache.'),
      })
      .describe('What the request used.'),
  })
  .meta({ id: 'ModelMessage', description: 'What the model said.' })

export const TokenCountShown = z
  .looseObject({
    input_tokens: count.describe('Tokens of the request.'),
    is_estimate: z
      .boolean()
      .optional()
      .meta(extension('True where this service has estimated, and no provider has counted.')),
    method: z.string().optional().meta(extension('How the tokens were estimated, in words.')),
  })
  .meta({ id: 'ModelMessageTokens', description: 'The number of tokens of a request.' })
