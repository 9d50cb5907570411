/** Queries that choose the events of a page or a stream. */
import { z } from 'zod'
import { lightView } from './light-events.ts'
import {
  CreatedAtQuery,
  Flag,
  ListQuery,
  TextList,
  extension,
  listOfWords,
  pageLimit,
  wholeNumberFrom,
} from './primitives.ts'

const include = TextList.optional().meta(extension('`chunks`: extension events as well.'))
const replay = Flag.optional().meta(
  extension('A stream begins with everything that was kept, and then goes on live.'),
)

/** Types of events that a stream shows in pieces. */
const deltaTypes = ['agent.message', 'agent.thinking'] as const
const DeltaType = z.string().meta({ enum: [...deltaTypes] })

export const EventListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  limit: pageLimit(1, 1000).default(100).describe('Events of one page at most.'),
  order: z.enum(['asc', 'desc']).default('asc').describe('By their place in the log.'),
  after_seq: wholeNumberFrom(0).optional().meta(extension('Only events behind this `seq`.')),
  types: TextList.optional().describe('Only events of these types, extension events too.'),
  include,
  event_deltas: listOfWords(deltaTypes)
    .optional()
    .describe('For a stream: pieces of these types of events.'),
  replay,
  view: lightView,
  threads: z
    .enum(['all'])
    .optional()
    .meta(extension('`all`: events of every thread, in one page. Of pages alone.')),
})
export type EventListQuery = z.infer<typeof EventListQuery>

/** Of the events of one thread. */
export const ThreadEventListQuery = EventListQuery.pick({
  limit: true,
  page: true,
  cursor: true,
  order: true,
  include: true,
  view: true,
})

export const StreamQuery = z.object({
  include,
  replay,
  event_deltas: z
    .union([DeltaType, z.array(DeltaType)])
    .transform((value) => [value].flat())
    .pipe(z.array(z.enum(deltaTypes)).max(100))
    .optional()
    .describe('Pieces of messages and the beginning of thinking, as previews.'),
})
export type StreamQuery = z.infer<typeof StreamQuery>
