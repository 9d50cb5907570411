/** Wakeups: times at which a session goes on by itself, because its agent asked for them. */
import { z } from 'zod'

export const wakeupLimits = { days: 30, noteCharacters: 2_000 }

/** The reasons why a wakeup is cancelled. */
export const wakeupEnds = ['interrupt', 'replaced', 'archive'] as const
export type WakeupEnd = (typeof wakeupEnds)[number]

/** The child thread that wakes, on the stream of the session. */
type WakeupThread = { session_thread_id?: string | null }

export type WakeupEvents = {
  'span.wakeup_scheduled': { wakeup_at: string; note: string } & WakeupThread
  /** The time of the wakeup has come. This event begins the turn of the thread. */
  'system.wakeup': { wakeup_scheduled_id: string; note: string } & WakeupThread
  'system.wakeup_cancelled': { wakeup_scheduled_id: string; reason: WakeupEnd } & WakeupThread
}

export const wakeupTypes = [
  'span.wakeup_scheduled',
  'system.wakeup',
  'system.wakeup_cancelled',
] as const satisfies readonly (keyof WakeupEvents)[]

const wakeup_scheduled_id = z.string().describe('The event that has scheduled it.')
const session_thread_id = z
  .string()
  .nullish()
  .describe('On the stream of the session: the child thread that is woken.')
const note = z.string().describe('What the agent has written to itself.')

export const wakeupEvents = {
  'span.wakeup_scheduled': {
    says: 'The session will be woken at a time.',
    fields: () =>
      z.object({ wakeup_at: z.string().describe('The time.'), note, session_thread_id }),
  },
  'system.wakeup': {
    says: 'The time has come, and a turn begins.',
    fields: () => z.object({ wakeup_scheduled_id, note, session_thread_id }),
  },
  'system.wakeup_cancelled': {
    says: 'The session will not be woken at that time.',
    fields: () =>
      z.object({
        wakeup_scheduled_id,
        reason: z
          .enum(wakeupEnds)
          .describe(
            '`replaced`: the agent has named another time. `failed`: the session has failed.',
          ),
        session_thread_id,
      }),
  },
}
