/** Sessions in short, as lists of many need them: without the prompts and tools of their agents. */
import { z } from 'zod'
import { CreatedBy } from './created-by.ts'
import {
  CreatedAt,
  CreatedAtQuery,
  Flag,
  ListQuery,
  Timestamp,
  UpdatedAt,
  WordList,
  includeArchived,
  pageLimit,
} from './primitives.ts'
import { sessionStatuses } from './sessions.ts'
import { SpendSummaryShown } from './spend-limits.ts'
import { WaitingOn, waitFilterWords } from './waiting-on.ts'

const count = z.int()
const money = z.object({
  amount: z.string().describe('US cents, as text.'),
  currency: z.literal('USD'),
})

/** A session as lists of many need it: without its agent's prompt and tools. */
export const SessionSummary = z
  .object({
    id: z.string(),
    type: z.literal('session_summary'),
    status: z.enum(sessionStatuses).describe('In the words of this interface.'),
    title: z.string().nullable(),
    first_words: z
      .string()
      .nullable()
      .describe('The beginning of its first message, which stands for a missing title.'),
    waiting_on: WaitingOn,
    agent_id: z.string(),
    agent_version: z.int().describe('The version that it pinned.'),
    agent_name: z.string().describe('The name of its agent.'),
    environment_id: z.string(),
    deployment_id: z.string().nullable(),
    created_by: CreatedBy.describe(
      'Who or what has made it. Null for a session of an earlier version.',
    ),
    usage: z
      .object({
        input_tokens: count.describe('Tokens that models read, cached ones excepted.'),
        output_tokens: count.describe('Tokens that models wrote.'),
        cache_read_input_tokens: count.describe('Tokens that were read from a cache.'),
        cache_creation_input_tokens: count.describe('Tokens that were written to a cache.'),
        list_cost: money.nullable().describe('Null where a model has no price.'),
      })
      .describe('Totals of the session so far.'),
    turns: count
      .nullable()
      .describe('Turns that have begun. Null where an earlier version has not counted them.'),
    active_seconds: z.number().describe('Seconds in which turns ran.'),
    last_event: z
      .object({
        seq: z.int().describe('Its place in the log.'),
        type: z.string(),
        created_at: Timestamp,
        tool: z.string().optional().describe('Of a call: its tool.'),
        session_thread_id: z.string().optional().describe('Of a child thread: its id.'),
      })
      .nullable()
      .describe('The newest event of any thread.'),
    failure: z
      .string()
      .nullable()
      .describe('Why the last turn failed, shortened. Null where it did not.'),
    archived_at: Timestamp.nullable().describe('When it was archived.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'SessionSummary', description: 'A session in short, as lists show it.' })
export type SessionSummary = z.infer<typeof SessionSummary>

/** How full the context of the primary thread is. [sessions/summary/context] */
export const ContextUse = z
  .object({
    used_tokens: count
      .nullable()
      .describe(
        'Tokens that the newest model request of the primary thread read, cached ones included. Null before the first one, and where the provider reports none.',
      ),
    window_tokens: count
      .nullable()
      .describe('Tokens of one request at most. Null where the model has no known window.'),
    share: z
      .number()
      .nullable()
      .describe('`used_tokens` of `window_tokens`: 1 is full. Null where one of them is.'),
  })
  .describe('How full the context of the primary thread is.')
export type ContextUse = z.infer<typeof ContextUse>

export const SessionSummaryShown = SessionSummary.extend({
  turns: count.describe('Turns that have begun.'),
  context: ContextUse,
}).meta({
  id: 'SessionSummaryWithContext',
  description: 'A session in short, with its turns and how full its context is.',
})
export type SessionSummaryShown = z.infer<typeof SessionSummaryShown>

/** The orders of a list. `active`: by the minute in which it last began or came to rest. `ran`: by the time in which turns ran. */
export const summaryOrders = ['created', 'active', 'cost', 'tokens', 'ran'] as const
export type SummaryOrder = (typeof summaryOrders)[number]

const cents = z.string().regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be US cents as digits, such as 50')

export const SummaryListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  limit: pageLimit(1, 200).default(50).describe('Sessions of one page at most.'),
  sort: z.enum(summaryOrders).default('created').describe('What the list is ordered by.'),
  order: z.enum(['asc', 'desc']).default('desc').describe('The greatest first, unless `asc`.'),
  status: WordList(sessionStatuses).optional().describe('Only sessions in one of these states.'),
  waiting_on: WordList(waitFilterWords)
    .optional()
    .describe('Only sessions that wait so, as in the list of sessions.'),
  agent_id: z.string().optional().describe('Only sessions of this agent.'),
  agent_version: pageLimit(1, 2 ** 31 - 1)
    .optional()
    .describe('Only sessions that pinned this version; with `agent_id`.'),
  environment_id: z.string().optional().describe('Only sessions in this environment.'),
  deployment_id: z.string().optional().describe('Only sessions that this deployment has created.'),
  created_by: z
    .string()
    .optional()
    .describe('Only sessions that this key, person or thing has made.'),
  forked_from: z.string().optional().describe('Only forks of this session.'),
  min_cost: cents.optional().describe('Only sessions that cost this or more, in US cents.'),
  max_cost: cents.optional().describe('Only sessions that cost this or less, in US cents.'),
  text: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose title, or first message, has all of these words.'),
  failed: Flag.optional().describe('Only sessions whose last turn ended with an error.'),
  include_archived: includeArchived,
})
export type SummaryListQuery = z.infer<typeof SummaryListQuery>

export const OverviewQuery = z.object({
  since: Timestamp.optional().describe(
    'Counts turns that failed since then, 14 days at most. When absent, since the person has last looked, or a day.',
  ),
})

export const OverviewShown = z
  .object({
    type: z.literal('overview'),
    running: count.describe('Sessions whose turn runs.'),
    waiting: z
      .object({
        person: count.describe('Sessions that a person can let go on.'),
        money: count.describe('Sessions at their budget.'),
        machine: count.describe('Sessions that wait for anything else.'),
        queue: count.describe('Of these, sessions that wait for a free place.'),
      })
      .describe('Sessions that wait, each counted once by who ends the wait first.'),
    failed: z
      .object({ since: Timestamp, sessions: count.describe('Sessions whose last turn failed.') })
      .describe('What failed lately.'),
    cost_today: money.nullable().describe('Since midnight, UTC. Null where a model has no price.'),
    spend_limits: z.array(SpendSummaryShown).describe('The limits that hold.'),
    days: z
      .array(
        z.object({
          date: z.string().describe('The day, UTC.'),
          list_cost: money.nullable().describe('Null where a model has no price.'),
        }),
      )
      .describe('The cost of the last 14 days, the oldest first.'),
  })
  .meta({ id: 'Overview', description: 'How the workspace is, at a glance.' })
export type Overview = z.infer<typeof OverviewShown>
