import type { StopReason } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Head, ThreadState } from './head.ts'
import { budgetOf, isAtBudget, showHeadUsage } from './head.ts'
import type { LogEntry } from './log.ts'
import { hasOthersDue, isWorking, advisorEndEntries, combinedStop } from './threads/team.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'

/**
 * The events that end a turn; no event may follow them. At a reached budget the stop reason is `budget_reached`, of the
 * thread and of the session, unless the session waits for an answer. In a session with several threads the thread's idle event comes first, and the
 * session's follows only when no other thread is due. `goesOn`: the thread has work at once. [turns/usage-before-idle]
 * [turns/idle-last] [threads/session-status]
 */
export function idleEntries(head: Head, stop: StopReason, now: number, goesOn = false): LogEntry[] {
  const { team } = head
  const stop_reason = stopAt(head, stop)
  if (!team) return sessionIdle(head, stop_reason, now)
  const rests = { id: newId('event'), type: 'session.thread_status_idle' } as const
  const resting = {
    event: { ...rests, ...threadNameFields(team.self), stop_reason, stop_details: null },
  }
  const own = [resting, ...(goesOn ? [] : advisorEndEntries(team.self))]
  if (goesOn || hasOthersDue(team)) return own
  const whole = stopAt(team.session, combinedStop(team, stop_reason))
  return [...own, ...sessionIdle(team.session, whole, now)]
}

/** The events for the beginning or the continuation of a turn. */
export function runningEntries({ team }: Head): LogEntry[] {
  const session: LogEntry = { event: { id: newId('event'), type: 'session.status_running' } }
  if (!team) return [session]
  const runs = { id: newId('event'), type: 'session.thread_status_running' } as const
  const own = { event: { ...runs, ...threadNameFields(team.self) } }
  return isWorking(team.session.status) ? [own] : [session, own]
}

export const threadNameFields = ({ id, name }: Pick<ThreadState, 'id' | 'name'>) => ({
  session_thread_id: id,
  agent_name: name,
})

/** The session's usage and its idle event, for when all of its threads rest. */
export function sessionIdle(head: Head, stop_reason: StopReason, now: number): LogEntry[] {
  const { list_cost, ...usage } = showHeadUsage(head, now)
  return [
    {
      event: {
        id: newId('event'),
        type: 'session.usage',
        usage: { ...usage, ...(list_cost && { list_cost }) },
        budget: budgetOf(head),
      },
    },
    { event: { id: newId('event'), type: 'session.status_idle', stop_reason, stop_details: null } },
  ]
}

function stopAt(head: Head, stop: StopReason): StopReason {
  if (isAtBudget(head) && stop.type !== 'requires_action') return { type: 'budget_reached' }
  return stop.type === 'budget_reached' ? { type: 'end_turn' } : stop
}

/**
 * Repeats the idle event of an idle session after another event was appended, because the idle event must be the last
 * one.
 */
export const idleAgain = (head: Head, now: number): LogEntry[] =>
  head.status === 'idle' && head.stop_reason !== null
    ? sessionIdle(head, stopAt(head, fromJson(head.stop_reason)), now)
    : []
