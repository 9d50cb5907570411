/** Converts input events of `/openai/v1` to events of a session. */
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { OpenAIInputEvent } from '@steward/protocol/openai/inputs.ts'
import { toUserMessages, toResultContent } from '@steward/protocol/openai/inputs.ts'
import { invalid } from '../../../ground/core/errors.ts'
import { findCall } from '../../../sessions/log/calls.ts'
import type { SessionLog } from '../turns/turns.ts'
import { turnAt, turnsAround } from '../turns/turns.ts'

/**
 * The client sends a result again after this exact message, because the stream may tell a call before the call waits.
 */
const unknownCall = (id: string) => invalid(`Unknown pending tool call: ${id}`)

/** Throws for a result or an approval when the session has no such call, and when the call belongs to another turn. */
export async function checkCalls(
  log: SessionLog,
  events: readonly OpenAIInputEvent[],
): Promise<void> {
  const { read, tenant, session } = log
  for (const [index, event] of events.entries()) {
    if (event.type === 'agent.session.input.mcp_approval_request_result') {
      const call = await findCall(read, tenant, session, event.request_id)
      if (!call || call.type === 'agent.custom_tool_use')
        throw invalid(`events.${index}.request_id: no call of this session asks with this id`)
    }
    if (event.type !== 'agent.session.input.tool_result') continue
    const call = await findCall(read, tenant, session, event.call_id)
    if (call?.type !== 'agent.custom_tool_use') throw unknownCall(event.call_id)
    const thread = call.thread_id ?? null
    const turns = await turnsAround({ ...log, thread }, call.seq, call.seq)
    if (turnAt(turns, call.seq)?.id !== event.turn_id)
      throw invalid(`events.${index}.turn_id: is not the turn of call ${event.call_id}`)
  }
}

export const toClientEvents = (given: readonly OpenAIInputEvent[]): ClientEvent[] =>
  given.flatMap((event): ClientEvent[] => {
    switch (event.type) {
      case 'agent.session.input.message':
        return toUserMessages(event.input)
      case 'agent.session.input.cancel':
        return [{ type: 'user.interrupt' }]
      case 'agent.session.input.tool_result':
        return [
          {
            type: 'user.custom_tool_result',
            custom_tool_use_id: event.call_id,
            content: toResultContent(event.success ? event.output : (event.error ?? event.output)),
            is_error: !event.success,
          },
        ]
      case 'agent.session.input.mcp_approval_request_result': {
        const { decision } = event.response
        const result = decision === 'approve' ? 'allow' : 'deny'
        return [{ type: 'user.tool_confirmation', tool_use_id: event.request_id, result }]
      }
      default:
        return event satisfies never
    }
  })
