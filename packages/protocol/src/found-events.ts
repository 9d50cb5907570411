/** What a search in the log of a session finds. [events/find] */
import { z } from 'zod'
import { Flag, Id, ListQuery, Timestamp, pageLimit } from './primitives.ts'

export const FindQuery = ListQuery.extend({
  limit: pageLimit(1, 200).default(50).describe('Events of one page at most.'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By their place in the log.'),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('A text in any case of letters; white space in it stands for any white space.'),
  errors: Flag.optional().describe('Only what has failed: results, requests and session errors.'),
  tool: z.string().min(1).max(256).optional().describe('Only calls of this tool, and results.'),
  thread: Id.optional().describe('Only events of this thread.'),
})
export type FindQuery = z.infer<typeof FindQuery>

const excerpt = z
  .object({
    at: z.string().describe('Where in the event, as a JSON pointer: `/content/0/text`.'),
    index: z.int().describe('Where in that text, in UTF-16 code units.'),
    before: z.string().describe('What stands before it, shortened.'),
    text: z.string().describe('What was found, as it is written there; empty without `q`.'),
    after: z.string().describe('What stands behind it, shortened.'),
  })
  .meta({ id: 'EventExcerpt', description: 'Where in an event a text was found.' })
export type Excerpt = z.infer<typeof excerpt>

export const FoundEvent = z
  .object({
    id: z.string(),
    type: z.string(),
    seq: z.int().describe('Its place in the log.'),
    session_thread_id: z.string().nullable().describe('Null for an event of the primary thread.'),
    tool: z.string().nullable().describe('Of a call or a result: the tool.'),
    is_error: z.boolean().describe('Whether it tells of something that has failed.'),
    created_at: Timestamp,
    excerpt: excerpt
      .nullable()
      .describe('The first place where `q` was found; without `q` the beginning or the end of it.'),
  })
  .meta({ id: 'FoundEvent', description: 'An event that a search has found.' })
export type FoundEvent = z.infer<typeof FoundEvent>
