/** The stream of a workspace: what changed, and the events of chosen sessions, over one connection. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { Flag, Id, TextList, wholeNumberFrom } from './primitives.ts'

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
