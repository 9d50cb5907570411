/**
 * Compares a posted answer with its call: the answer settles the call, repeats the earlier answer, or is refused.
 * [events/post/repeated-result] [events/post/other-result]
 */
import type { EventOf, NewEvent } from '@steward/protocol/events.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { PendingCall } from '../log/calls.ts'
import { findCall, readSettlement } from '../log/calls.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import type { StoredEvent } from '../log/log.ts'
import { eventOf, readAt } from '../log/log.ts'

export type CallAnswer = Extract<
  NewEvent,
  { type: 'user.tool_confirmation' | 'user.custom_tool_result' | 'user.tool_result' }
>
type AnswerTarget = { tx: Queries; tenant: string; sessionId: string; at: string }

/**
 * Returns undefined when the call waits for this answer. Otherwise returns the event that settled the call, which makes
 * a retry safe. Throws when the call does not exist, takes another kind of answer, or has a different result from a
 * client.
 */
export async function findSettlement(
  { tx, tenant, sessionId, at }: AnswerTarget,
  event: CallAnswer,
): Promise<StoredEvent | undefined> {
  const field = event.type === 'user.custom_tool_result' ? 'custom_tool_use_id' : 'tool_use_id'
  const id = callOf(event)
  const call = await findCall(tx, tenant, sessionId, id)
  if (!call) throw invalid(`${at}.${field}: ${id} is no tool call of this session`)
  const taken = await answersOf(tx, tenant, sessionId, call)
  if (!taken.includes(event.type)) {
    const by =
      taken.length > 0 ? `is answered by ${taken.join(' and ')}` : 'asks nobody for an answer'
    throw invalid(`${at}.${field}: call ${id} ${by}`)
  }
  const confirmed = event.type === 'user.tool_confirmation'
  if (call.state === (confirmed ? 'asked' : 'waiting')) return undefined
  if (call.state === 'asked')
    throw invalid(`${at}.${field}: call ${id} is not confirmed yet and has not run`)
  const row = await readSettlement(tx, tenant, sessionId, { call, confirmed })
  // The confirmation has no effect, and the log would not show that, so it is refused.
  if (confirmed && row.type !== event.type)
    throw invalid(`${at}.${field}: call ${id} was closed before it was confirmed, and does not run`)
  const earlier = eventOf(row)
  if (earlier.type === event.type) checkSame(event, earlier, `${at}.${field}`)
  return row
}

type CustomToolResultEvent = EventOf<'user.custom_tool_result'>
/** `result`: the decision of a confirmation, which may be repeated with other words. */
type AnswerContent = Partial<Pick<CustomToolResultEvent, 'content' | 'is_error' | 'closed_by'>> & {
  result?: unknown
}

/** Throws unless the result equals the client's earlier result of the same call. */
export function checkSame(answer: AnswerContent, earlier: AnswerContent, at: string): void {
  if (earlier.result !== undefined || earlier.closed_by) return
  if (isSameJson(resultIn(answer), resultIn(earlier))) return
  throw invalid(`${at}: the call has a different result already, which cannot be replaced`)
}

const resultIn = ({ content, is_error }: AnswerContent) => ({
  content: content ?? [],
  is_error: is_error ?? false,
})

export const callOf = (event: CallAnswer): string =>
  event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id

/** The event types that answer this call, in the order in which they come. */
async function answersOf(
  tx: Queries,
  tenant: string,
  sessionId: string,
  call: PendingCall,
): Promise<CallAnswer['type'][]> {
  const [row] = await readAt(tx, tenant, sessionId, [call.seq])
  const use = row && eventOf(row)
  if (use?.type === 'agent.custom_tool_use') return ['user.custom_tool_result']
  if (use?.type !== 'agent.tool_use' && use?.type !== 'agent.mcp_tool_use') return []
  return [
    ...(use.evaluated_permission === 'ask' ? (['user.tool_confirmation'] as const) : []),
    ...(use.executed_by === 'worker' ? (['user.tool_result'] as const) : []),
  ]
}

/** The stored system message behind an answer, when a request with both is repeated. Throws when it differs. */
export async function findKeptMessage(
  { tx, tenant, sessionId, at }: AnswerTarget,
  event: Extract<NewEvent, { type: 'system.message' }>,
  answer: StoredEvent,
): Promise<StoredEvent> {
  const [row] = await readAt(tx, tenant, sessionId, [(answer.seq ?? 0) + 1])
  const { content } = event
  if (row?.type === 'system.message' && row.data === JSON.stringify({ content })) return row
  throw invalid(`${at}: follows a result that was posted earlier without this message`)
}
