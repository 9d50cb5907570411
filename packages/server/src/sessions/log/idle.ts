import type { StopReason } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Head } from './head.ts'
import { usageOf } from './head.ts'
import type { Entry } from './log.ts'
import { fromJson } from '../../ground/core/json-text.ts'

/** The two events that end every turn; nothing may follow them. [turns/usage-before-idle] [turns/idle-last] */
export function idle(head: Head, stop_reason: StopReason, now: number): Entry[] {
  return [
    {
      event: {
        id: newId('event'),
        type: 'session.usage',
        usage: usageOf(head, now),
        budget: null,
      },
    },
    {
      event: {
        id: newId('event'),
        type: 'session.status_idle',
        stop_reason,
        stop_details: null,
      },
    },
  ]
}

/** An idle session that has something to say: nothing may stand behind its idle, so that it is said again. */
export const idleAgain = (head: Head, now: number): Entry[] =>
  head.status === 'idle' && head.stop_reason !== null
    ? idle(head, fromJson(head.stop_reason), now)
    : []
