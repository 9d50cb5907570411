/** Which events of a child thread the stream of the session shows too. */
import type { NewEvent } from '@steward/protocol/events.ts'
import { wakeupTypes } from '@steward/protocol/wakeups.ts'
import { newCallState } from './calls.ts'

/**
 * True for the status of the thread, its wakeups, calls that a person or client has to answer, the results that close
 * them, and events that people post. [threads/cross-post]
 */
export function isShared(event: NewEvent | { type: string }): boolean {
  const { type } = event
  if (type.startsWith('session.thread_status_') || type.startsWith('user.')) return true
  if (wakeupTypes.some((each) => each === type)) return true
  if (/^agent\.(mcp_)?tool_result$/.test(type)) return 'session_thread_id' in event
  const state = 'id' in event ? newCallState(event as NewEvent) : undefined
  return state === 'asked' || state === 'waiting'
}
