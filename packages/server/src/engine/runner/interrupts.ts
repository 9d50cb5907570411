/** Applies an interrupt to the calls and messages of a thread. */
import type { Queries } from '../../ground/database/database.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { closingResult } from '../../sessions/log/closing.ts'
import type { InboxItem } from '../../sessions/log/inbox.ts'
import { buildCancellation, dropWaiting } from '../../sessions/log/inbox-end.ts'
import type { LogEntry, PromotedMessage } from '../../sessions/log/log.ts'
import { cancelWakeup } from '../../sessions/rows/wakeups.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

export const isInterrupt = ({ type }: InboxItem): boolean => type === 'user.interrupt'

export async function takeInterrupt(
  tx: Queries,
  ref: ThreadRef,
  open: PendingCall[],
  queue: readonly InboxItem[],
  position: number,
) {
  const { tenant, session, thread } = ref
  const dropped = await dropWaiting(tx, tenant, session, position, thread)
  const asleep = await cancelWakeup(tx, ref, 'interrupt')
  return {
    /** Id of the newest interrupt. */
    id: queue.findLast(isInterrupt)?.id ?? '',
    entries: [...asleep, ...interruptEntries(dropped, open)],
    behind: queue.filter((each) => each.position > position),
  }
}

/**
 * Closes the open calls, cancels the waiting messages of people, and puts the interrupt into the log. Messages of other
 * threads are read in the next turn.
 */
function interruptEntries(
  queue: readonly PromotedMessage[],
  open: readonly PendingCall[],
): (LogEntry | PromotedMessage)[] {
  const closed = open.map((call) =>
    asEntry(closingResult(call, 'interrupted before it had a result')),
  )
  const gone = queue
    .filter(({ type }) => type === 'user.message')
    .map((message) => asEntry(buildCancellation(message, newId('event'), 'interrupt')))
  const kept = ['user.interrupt', 'agent.thread_message_received', 'system.wakeup']
  return [...closed, ...gone, ...queue.filter(({ type }) => kept.includes(type))]
}

const asEntry = (event: LogEntry['event']): LogEntry => ({ event })
