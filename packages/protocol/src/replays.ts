/** Replays: a session runs again with its recorded answers. */
import { z } from 'zod'
import type { NewEvent } from './events.ts'
import { exampleIds } from './example-ids.ts'
import { Id } from './primitives.ts'
import { AgentChoice } from './session-choices.ts'

export const ReplayCreate = z
  .strictObject({
    session_id: Id.describe('The session whose log is the record.'),
    agent: AgentChoice.nullish().describe(
      "The agent to run. The newest version of the session's own agent when absent.",
    ),
    on_divergence: z
      .enum(['stop', 'continue'])
      .default('stop')
      .describe('`continue`: a new session goes on live from the turn that differs.'),
  })
  .meta({
    id: 'ReplayCreateParams',
    examples: [{ session_id: exampleIds.session }],
  })
export type ReplayCreate = z.infer<typeof ReplayCreate>

/** The first difference between a replay and its record. `index` counts the events of the turn from 0. */
export type ReplayDivergence = {
  seq: number
  index: number
  recorded: NewEvent | null
  replayed: NewEvent | null
  diff: string
}

export type Replay = {
  type: 'replay'
  session_id: string
  agent: { id: string; version: number }
  status: 'same' | 'diverged'
  turns: number
  events: number
  ended_early: string | null
  changes: { field: string; diff: string }[]
  divergence: ReplayDivergence | null
  continued_session_id: string | null
}

const Event = z.looseObject({ id: z.string(), type: z.string() }).nullable()

export const ReplayShown = z
  .object({
    type: z.literal('replay'),
    session_id: z.string(),
    agent: z
      .object({ id: z.string(), version: z.int().describe('The version that was run.') })
      .describe('The agent that was run.'),
    status: z
      .enum(['same', 'diverged'])
      .describe('`same`: all events are equal but for their ids and times.'),
    turns: z.int().describe('Turns that were the same.'),
    events: z.int().describe('Events that were the same, but for their ids and times.'),
    ended_early: z
      .string()
      .nullable()
      .describe('Why the record ends before the log does; null where it does not.'),
    changes: z
      .array(
        z.object({
          field: z.string().describe('The name of the field.'),
          diff: z
            .string()
            .describe('The field of both as lines: `-` is of the record, `+` is new.'),
        }),
      )
      .describe('What differs between the agent of the record and this one.'),
    divergence: z
      .object({
        seq: z.int().describe('Of the recorded event, or of the last one of its turn.'),
        index: z.int().describe('Counts the events of the turn from 0.'),
        recorded: Event.describe('The event of the record; null where the record has no more.'),
        replayed: Event.describe('The event of the replay; null where it has no more.'),
        diff: z.string().describe('Both events as lines: `-` was recorded, `+` is new.'),
      })
      .nullable()
      .describe('The first event that differs. The replay stops there.'),
    continued_session_id: z
      .string()
      .nullable()
      .describe(
        'The session that goes on live; null where none was asked for, or nothing differs.',
      ),
  })
  .meta({ id: 'Replay', description: 'How a session would go with another agent.' })
