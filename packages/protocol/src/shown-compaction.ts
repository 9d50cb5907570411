/** How answers show that a summary has taken the place of older messages. */
import { z } from 'zod'
import type { EventDescription } from './shown-thread-events.ts'
import { extension } from './primitives.ts'

type CompactionEventType = 'agent.thread_context_compacted'

export const compactionEvents: { [T in CompactionEventType]: EventDescription<T> } = {
  'agent.thread_context_compacted': {
    says: 'A summary has taken the place of the older conversation.',
    fields: () =>
      z.object({
        strategy: z
          .string()
          .nullable()
          .meta(extension('Who wrote the summary; null for a shortened transcript.')),
        summary: z
          .string()
          .optional()
          .meta(extension('What stands in the place of the older messages.')),
        messages: z
          .object({
            replaced: z.int().describe('Messages for the model that are gone.'),
            kept: z.int().describe('Messages that stay, some of them with shortened results.'),
          })
          .optional()
          .meta(extension('What the summary has replaced, and what has stayed.')),
        tokens: z
          .object({
            before: z.int().describe('With the whole conversation.'),
            after: z.int().describe('With the summary.'),
          })
          .optional()
          .meta(extension('What the next request to the model would have read, about.')),
      }),
  },
}
