import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/ids.ts'
import type { PendingCall } from './calls.ts'

/** An error result of the event type that answers this call. */
export function closing(call: Pick<PendingCall, 'event_id' | 'type'>, why: string): NewEvent {
  const id = newId('event')
  const answer = { content: [{ type: 'text' as const, text: why }], is_error: true }
  if (call.type === 'agent.custom_tool_use') {
    const closed = { ...answer, closed_by: 'service' as const }
    return { id, type: 'user.custom_tool_result', custom_tool_use_id: call.event_id, ...closed }
  }
  return call.type === 'agent.mcp_tool_use'
    ? { id, type: 'agent.mcp_tool_result', mcp_tool_use_id: call.event_id, ...answer }
    : { id, type: 'agent.tool_result', tool_use_id: call.event_id, ...answer }
}
