/** What an interrupt does to the calls and messages of a thread. */
import type { Queries } from '../../ground/database/database.ts'
import { newId } from '../../ground/core/ids.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { closing } from '../../sessions/log/closing.ts'
import type { Admitted } from '../../sessions/log/inbox.ts'
import { cancelled, drop } from '../../sessions/log/inbox-end.ts'
import type { Entry, Promoted } from '../../sessions/log/log.ts'
import type { ThreadPlace } from '../../sessions/log/threads/team.ts'
import { cancelWakeup } from '../../sessions/rows/wakeups.ts'

export const isInterrupt = ({ type }: Admitted): boolean => type === 'user.interrupt'

export async function takeInterrupt(
  tx: Queries,
  place: ThreadPlace,
  open: PendingCall[],
  queue: readonly Admitted[],
  position: number,
) {
  const { tenant, session, thread } = place
  const dropped = await drop(tx, tenant, session, position, thread)
  const asleep = await cancelWakeup(tx, place, 'interrupt')
  return {
    /** Of the newest interrupt. */
    id: queue.findLast(isInterrupt)?.id ?? '',
    entries: [...asleep, ...interruptEntries(dropped, open)],
    behind: queue.filter((each) => each.position > position),
  }
}

/**
 * Closes the open calls, cancels the waiting messages of people, and puts the interrupt into the log. Messages of other threads are read in
 * the next turn.
 */
function interruptEntries(
  queue: readonly Promoted[],
  open: readonly PendingCall[],
): (Entry | Promoted)[] {
  const closed = open.map((call) => asEntry(closing(call, 'interrupted before it had a result')))
  const gone = queue
    .filter(({ type }) => type === 'user.message')
    .map((message) => asEntry(cancelled(message, newId('event'), 'interrupt')))
  const kept = ['user.interrupt', 'agent.thread_message_received', 'system.wakeup']
  return [...closed, ...gone, ...queue.filter(({ type }) => kept.includes(type))]
}

const asEntry = (event: Entry['event']): Entry => ({ event })
