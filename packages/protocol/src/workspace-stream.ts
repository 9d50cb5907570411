/** The stream of a workspace: what changed, and the events of chosen sessions, over one connection. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import {
  CreatedAt,
  Flag,
  Id,
  TextList,
  Timestamp,
  UpdatedAt,
  wholeNumberFrom,
} from './primitives.ts'
import { sessionStatuses } from './sessions.ts'
import { WaitingOn } from './waiting-on.ts'

/** Sessions that one stream follows. */
export const mostFollowed = 32

export const WorkspaceStreamQuery = z.object({
  workspace: Flag.optional().describe('`false`: only events of sessions, no changes.'),
  sessions: TextList.optional().describe(
    'Sessions whose events come from now on, or behind `Last-Event-ID`.',
  ),
  chunks: Flag.optional().describe('For `sessions`: pieces of answers while they are written.'),
})
export type WorkspaceStreamQuery = z.infer<typeof WorkspaceStreamQuery>

const Subscription = z.strictObject({
  session_id: Id,
  after_seq: wholeNumberFrom(0)
    .optional()
    .describe('Events behind this `seq` come first; from now on when absent.'),
  chunks: z.boolean().optional().describe('Pieces of answers while they are written.'),
})
export type Subscription = z.infer<typeof Subscription>

export const WorkspaceStreamChange = z
  .strictObject({
    workspace: z.boolean().optional().describe('Whether changes of the workspace come.'),
    follow: z
      .array(Subscription)
      .max(mostFollowed)
      .optional()
      .describe('Sessions to follow. One that is followed begins anew.'),
    unfollow: z.array(Id).max(mostFollowed).optional().describe('Sessions to follow no more.'),
  })
  .meta({
    id: 'WorkspaceStreamChange',
    description: 'What a stream follows from now on, and what no more.',
    examples: [{ follow: [{ session_id: exampleIds.session, chunks: true }] }],
  })
export type WorkspaceStreamChange = z.infer<typeof WorkspaceStreamChange>

export const WorkspaceStreamShown = z
  .object({
    id: z.string(),
    type: z.literal('stream'),
    workspace: z.boolean().describe('Whether changes of the workspace come.'),
    sessions: z.array(z.string()).describe('The sessions that it follows.'),
  })
  .meta({ id: 'WorkspaceStream', description: 'An open stream of a workspace.' })
export type WorkspaceStreamShown = z.infer<typeof WorkspaceStreamShown>

const count = z.int()

/** A session as lists of many need it: without its agent's prompt and tools. */
export const SessionSummary = z
  .object({
    id: z.string(),
    type: z.literal('session_summary'),
    status: z.enum(sessionStatuses).describe('In the words of this interface.'),
    title: z.string().nullable(),
    waiting_on: WaitingOn,
    agent_id: z.string(),
    agent_version: z.int(),
    agent_name: z.string(),
    environment_id: z.string(),
    deployment_id: z.string().nullable(),
    usage: z.object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      list_cost: z
        .object({ amount: z.string(), currency: z.literal('USD') })
        .nullable()
        .describe('US cents as text. Null where a model has no price.'),
    }),
    last_event: z
      .object({
        seq: z.int(),
        type: z.string(),
        created_at: Timestamp,
        tool: z.string().optional().describe('Of a call: its tool.'),
        session_thread_id: z.string().optional(),
      })
      .nullable()
      .describe('The newest event of any thread.'),
    archived_at: Timestamp.nullable(),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'SessionSummary', description: 'A session in short, as lists show it.' })
export type SessionSummary = z.infer<typeof SessionSummary>
