/** Ends a turn that has run, in one commit. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries } from '../../ground/database/database.ts'
import { append } from '../../sessions/log/append.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { openCalls } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import { isAtBudget, readHead } from '../../sessions/log/head.ts'
import { idle } from '../../sessions/log/idle.ts'
import { lastInterrupt, waiting, waitsBehind } from '../../sessions/log/inbox.ts'
import type { Entry, Promoted } from '../../sessions/log/log.ts'
import { withdraw } from '../../sessions/work/queue.ts'
import { cutSpans } from './left-behind.ts'
import type { SessionLease } from './steps.ts'
import { closing, entryOf, released, takeInterrupt, tellBudget, unanswered } from './steps.ts'

/** `head`: as the turn left it, where no call is open. Something may have come since. */
export type TurnEnding = {
  stop: StopReason
  last: readonly Entry[]
  isElsewhere?: boolean
  head?: Head | undefined
}

/**
 * Ends a turn in one commit: its last events, the effect of an interrupt, usage and idle. Returns `more` when the session has work at once;
 * it then keeps its lease. A session that rests withdraws its work item when its tools run elsewhere.
 */
export async function finishTurn(
  tx: Queries,
  place: SessionLease,
  { stop, last, isElsewhere = true }: TurnEnding,
  now: number,
): Promise<'rest' | 'more' | 'lost'> {
  const { tenant, session, fence } = place
  const written = await append(tx, tenant, session, last, { now, fence })
  if (!written) return 'lost'
  const open = await openCalls(tx, tenant, session)
  const end = await ending(tx, place, stop, open)
  if (end === 'answered') return 'more'
  const head = await readHead(tx, tenant, session)
  const isHalted = end.stop.type === 'budget_reached'
  const more = await goesOn(tx, place, head, end.stop)
  const told = await tellBudget(tx, place, head, end.stop, now)
  const set = { ...(isHalted && { halted: 1 }), ...told, ...(more ? {} : released) }
  const cut = stop.type === 'retries_exhausted' ? await cutSpans(tx, place) : []
  const entries = [...end.entries, ...cut, ...idle(head, end.stop, now)]
  const done = await append(tx, tenant, session, entries, { now, fence, due: more, set })
  if (!done) return 'lost'
  if (more) return 'more'
  if (isElsewhere && end.stop.type !== 'requires_action') await withdraw(tx, tenant, session, now)
  return 'rest'
}

/** Whether the session has work at once. A turn that was left at its budget goes on where the budget was raised meanwhile. */
const goesOn = async (
  tx: Queries,
  { tenant, session }: SessionLease,
  head: Head,
  { type }: StopReason,
): Promise<boolean> =>
  type !== 'requires_action' &&
  !isAtBudget(head) &&
  (type === 'budget_reached' || (await waitsBehind(tx, tenant, session, 0)))

/** The reason why the turn ends, given the interrupts and answers that came while it ran. */
async function ending(
  tx: Queries,
  place: SessionLease,
  stop: StopReason,
  open: PendingCall[],
): Promise<{ stop: StopReason; entries: (Entry | Promoted)[] } | 'answered'> {
  const interrupted = await lastInterrupt(tx, place.tenant, place.session)
  if (interrupted !== undefined) {
    const queue = await waiting(tx, place.tenant, place.session)
    const { entries } = await takeInterrupt(tx, place, open, queue, interrupted)
    return { stop: { type: 'end_turn' }, entries }
  }
  if (stop.type !== 'requires_action') {
    const why = 'the turn ended before this call had a result'
    return { stop, entries: open.map((call) => entryOf(closing(call, why))) }
  }
  const rest = open.filter(unanswered).map((call) => call.event_id)
  if (rest.length === 0) return 'answered'
  return { stop: { type: 'requires_action', event_ids: rest }, entries: [] }
}
