/** Messages that wait for the turn before them. */
import { z } from 'zod'
import { PostMessage } from './events.ts'
import { CreatedAt } from './primitives.ts'

export const WaitingMessage = z
  .object({
    id: z.string().describe('The id of the `user.message` event that it becomes.'),
    type: z.literal('waiting_message'),
    content: z
      .array(z.unknown())
      .nullable()
      .describe('As it was posted. Null for a message of megabytes.'),
    session_thread_id: z.string().nullable().describe('The child thread that it waits for.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'WaitingMessage', description: 'A message that no turn has taken yet.' })
export type WaitingMessage = z.infer<typeof WaitingMessage>

export const WaitingMessageUpdate = z
  .strictObject({
    content: PostMessage.shape.content.describe(
      'A text, or blocks of text, in place of the whole.',
    ),
  })
  .meta({ id: 'WaitingMessageUpdateParams', examples: [{ content: 'Review the lexer.' }] })

export const WaitingMessageChange = z
  .object({
    id: z.string(),
    type: z.literal('waiting_message_change'),
    state: z
      .enum(['changed', 'removed', 'already_read'])
      .describe('`already_read`: a turn has taken the message before; nothing was changed.'),
  })
  .meta({ id: 'WaitingMessageChange', description: 'What became of a waiting message.' })
