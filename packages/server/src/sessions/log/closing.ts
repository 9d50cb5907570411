import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { PendingCall } from './calls.ts'

type ClosedCall = Pick<PendingCall, 'event_id' | 'type'> &
  Partial<Pick<PendingCall, 'state' | 'thread_id'>>

/**
 * An error result, of the event type that answers this call. The result names the thread when a child thread made the
 * call and a person or client has to answer it: the stream of the session has shown the call, so it must also show that
 * no answer is needed.
 */
export function closingResult(call: ClosedCall, why: string): NewEvent {
  const id = newId('event')
  const { thread_id, state } = call
  const isShown = state === 'asked' || state === 'waiting'
  const answer = {
    content: [{ type: 'text' as const, text: why }],
    is_error: true,
    ...(thread_id && isShown && { session_thread_id: thread_id }),
  }
  if (call.type === 'agent.custom_tool_use') {
    const closed = { ...answer, closed_by: 'service' as const }
    return { id, type: 'user.custom_tool_result', custom_tool_use_id: call.event_id, ...closed }
  }
  if (call.type === 'agent.mcp_tool_use')
    return { id, type: 'agent.mcp_tool_result', mcp_tool_use_id: call.event_id, ...answer }
  return call.type === 'agent.advisor_tool_use'
    ? { id, type: 'agent.advisor_tool_result', tool_use_id: call.event_id, ...answer }
    : { id, type: 'agent.tool_result', tool_use_id: call.event_id, ...answer }
}
