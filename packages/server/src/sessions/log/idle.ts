import type { StopReason } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Head } from './head.ts'
import { budgetOf, isAtBudget, usageOf } from './head.ts'
import type { Entry } from './log.ts'
import { fromJson } from '../../ground/core/json-text.ts'

/**
 * The two events that end every turn; nothing may follow them. A session that has spent its budget says so, unless it waits for an answer.
 * [turns/usage-before-idle] [turns/idle-last]
 */
export function idle(head: Head, stop: StopReason, now: number): Entry[] {
  const { list_cost, ...usage } = usageOf(head, now)
  const stop_reason = stopAt(head, stop)
  return [
    {
      event: {
        id: newId('event'),
        type: 'session.usage',
        usage: { ...usage, ...(list_cost && { list_cost }) },
        budget: budgetOf(head),
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

function stopAt(head: Head, stop: StopReason): StopReason {
  if (isAtBudget(head) && stop.type !== 'requires_action') return { type: 'budget_reached' }
  return stop.type === 'budget_reached' ? { type: 'end_turn' } : stop
}

/** An idle session that has something to say: nothing may stand behind its idle, so that it is said again. */
export const idleAgain = (head: Head, now: number): Entry[] =>
  head.status === 'idle' && head.stop_reason !== null
    ? idle(head, fromJson(head.stop_reason), now)
    : []
