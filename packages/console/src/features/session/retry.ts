/** Whether something has failed that can be tried again, and why it cannot. */
import type { Session, SessionEvent, ShortSession } from '../../lib/api/types.ts'
import { retryWords as own } from './words.ts'

export type UserMessage = Extract<SessionEvent, { type: 'user.message' }>

/** `isOver`: the session takes no more messages. Undefined where nothing has failed, or something goes on. */
export function failureOf(
  { status, archived_at }: Pick<Session, 'status' | 'archived_at'>,
  short: Pick<ShortSession, 'failure'> | undefined,
  events: readonly SessionEvent[],
): { isOver: boolean; why: string } | undefined {
  if (status === 'failed') return { isOver: true, why: lastErrorOf(events) }
  if (status !== 'idle' || archived_at !== null || !short || short.failure === null)
    return undefined
  return { isOver: false, why: short.failure }
}

function lastErrorOf(events: readonly SessionEvent[]): string {
  const error = events.findLast((event) => event.type === 'session.error')
  return error?.type === 'session.error' ? error.error.message : ''
}

/** `message`: the last one; undefined while it comes. One that no turn has read has no number: all of the log is before it. */
export function whyNoRetry(
  message: UserMessage | null | undefined,
  isOver: boolean,
): string | undefined {
  if (message === undefined) return own.looking
  if (message === null) return own.noMessage
  return isOver && message.seq === 1 ? own.isFirst : undefined
}
