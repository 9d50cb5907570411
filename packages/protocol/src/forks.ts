/** Forks: new sessions with the history of another one up to an event. */
import { z } from 'zod'
import { Timestamp, extension } from './primitives.ts'
import { AgentChoice, sessionTitle } from './session-choices.ts'

export const SessionFork = z
  .strictObject({
    at_seq: z
      .int()
      .min(1)
      .optional()
      .describe('The last event of the history, by its `seq`; the newest when absent.'),
    title: sessionTitle,
    agent: AgentChoice.optional().describe(
      'Another agent, or another version of it, for the fork. The agent of the session when absent.',
    ),
  })
  .meta({ id: 'SessionForkParams', examples: [{ at_seq: 1, title: 'Another way' }] })
export type SessionFork = z.infer<typeof SessionFork>

export const ForkedFrom = z
  .object({
    session_id: z.string(),
    seq: z.int().describe('The last event that both have.'),
    checkpoint: z
      .object({
        seq: z.int().describe('The newest event when the working folder was saved.'),
        taken_at: Timestamp,
      })
      .nullable()
      .describe('The working folder that the fork begins with. Null: an empty one.'),
  })
  .nullable()
  .meta(extension('The session whose history this one began with.'))
export type ForkedFrom = NonNullable<z.infer<typeof ForkedFrom>>
