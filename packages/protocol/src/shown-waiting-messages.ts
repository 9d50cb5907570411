/** Events about messages that wait for the turn before them. */
import { z } from 'zod'
import { TextBlock } from './content.ts'

export const waitingMessageId = z.string().describe('The id of the message that waits.')

export const waitingMessageEvents = {
  'system.user_message_cancelled': {
    says: 'A waiting message will never be taken up.',
    fields: () =>
      z.object({
        message_id: waitingMessageId,
        reason: z.string().describe('What has cancelled it.'),
      }),
  },
  'system.user_message_changed': {
    says: 'A waiting message has another text now.',
    fields: () =>
      z.object({
        message_id: waitingMessageId,
        content: z.array(TextBlock).describe('Its text now.'),
      }),
  },
}
