/** How many tokens texts of an agent take, without asking its provider. */
import { z } from 'zod'
import { ModelRef } from './agents.ts'
import { Tools } from './tools.ts'

const text = z.string().max(4_000_000)

export const TokenEstimateParams = z
  .strictObject({
    model: ModelRef.describe('The model that would read it, as an agent names it.'),
    system: text.nullish().describe('A system prompt.'),
    tools: Tools.nullish(),
    text: text.nullish().describe('A message, or any other text.'),
  })
  .refine(({ system, tools, text: said }) => (system ?? tools ?? said ?? null) !== null, {
    message: 'must be given, or system, or tools: there is nothing to count',
    path: ['text'],
  })
  .meta({
    id: 'TokenEstimateParams',
    description: 'What to count: at least one of `system`, `tools` and `text`.',
    examples: [{ model: 'offline', system: 'You review pull requests.', text: 'Look at #12.' }],
  })

const count = z.int()

export const TokenEstimateShown = z
  .object({
    type: z.literal('token_estimate'),
    tokens: count.describe('Tokens of all parts.'),
    parts: z
      .object({
        system: count.describe('Tokens of the system prompt.'),
        tools: count.describe('Tokens of the descriptions of the tools.'),
        text: count.describe('Tokens of the text.'),
      })
      .describe('Tokens of each part.'),
    is_estimate: z.literal(true).describe('Always true: nobody has counted tokens.'),
    method: z.string().describe('How the tokens are estimated, in words.'),
    not_counted: z
      .array(z.string())
      .describe('MCP servers whose tools are not counted: only the server knows them.'),
    window_tokens: count
      .nullable()
      .describe('Tokens of one request at most. Null where the model has no known window.'),
  })
  .meta({
    id: 'TokenEstimate',
    description: 'About how many tokens a model would read.',
  })
export type TokenEstimateShown = z.infer<typeof TokenEstimateShown>
