/** Refuses events that a session in its present state does not take. */
import type { ClientEvent } from '@steward/protocol/events.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Head } from '../log/head.ts'
import { isAtBudget, stateOf } from '../log/head.ts'

export function checkOpen(sessionId: string, { status }: Head): void {
  if (status === 'deleted') throw notFound('session', sessionId)
  if (status === 'failed')
    throw invalid(
      `session ${sessionId} has failed and takes no more events; fork it to go on from an earlier one`,
    )
  if (status === 'done') throw invalid(`session ${sessionId} is archived and takes no more events`)
}

const settling = [
  'user.tool_confirmation',
  'user.tool_result',
  'user.custom_tool_result',
  'user.interrupt',
]

/** Refuses events other than answers to calls and interrupts at a reached budget. [sessions/budget/refusal] */
export function checkBudgetLeft(head: Head, events: readonly ClientEvent[]): void {
  if (head.status !== 'idle' || !isAtBudget(head)) return
  const at = events.findIndex(({ type }) => !settling.includes(type))
  if (at !== -1)
    throw invalid(
      `events.${at}.type: the session has reached its budget and takes only ${settling.join(', ')}; raise or remove the budget to go on`,
      'budget_reached',
    )
}

const results = ['user.tool_result', 'user.custom_tool_result']

/**
 * Refuses a system message to a thread that waits for an answer, unless a result stands before it. It would wait, and
 * the turn that it is meant for goes on without it. [turns/messages-wait-for-action]
 */
export function checkAnswered(head: Head, events: readonly ClientEvent[]): void {
  const at = events.findIndex(({ type }) => type === 'system.message')
  if (at === -1 || stateOf(head) !== 'requires_action') return
  if (!events.some(({ type }) => results.includes(type)))
    throw invalid(
      `events.${at}.type: the session waits for an answer to a call and takes a system.message only behind a ${results.join(' or a ')} of the same request`,
    )
}
