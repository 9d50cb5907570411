/** Limits the tool calls of one answer. */
import { RefusedAnswer } from './bounded-answer.ts'
import type { AssistantMessage } from './pi.ts'

const mostToolCalls = 1_024

/**
 * The Google library compares each call's id with all earlier ids, without a break of the event loop, and one event can
 * hold 70,000 calls. The limit throws where the library adds a call, which ends its reading.
 */
export function boundToolCalls(
  { content }: AssistantMessage,
  onRefusal: (error: RefusedAnswer) => void,
): void {
  let calls = 0
  const push: typeof content.push = (...blocks) => {
    calls += blocks.filter(({ type }) => type === 'toolCall').length
    if (calls <= mostToolCalls) return Array.prototype.push.apply(content, blocks)
    const error = new RefusedAnswer(
      `The endpoint called more than ${mostToolCalls} tools in one answer`,
    )
    onRefusal(error)
    throw error
  }
  Object.defineProperty(content, 'push', { configurable: true, value: push })
}
