/**
 * The two steps of nearly every turn, without a lock: a session is read as it stands, and written onto while it still stands so. Where there is
 * more to decide, or anything came in between, these steps write nothing, and `steps.ts` decides with the head locked.
 */
import { newId } from '../../ground/core/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { leaseMs } from '../../ground/database/lease.ts'
import { appendOnto, isPlain } from '../../sessions/log/append.ts'
import { headChange, stateOf, withTokens } from '../../sessions/log/head.ts'
import { idle } from '../../sessions/log/idle.ts'
import { readSnapshot } from '../../sessions/log/snapshot.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import { actionFor } from './decision.ts'
import type { SessionLease, Step, TurnEnding } from './steps.ts'
import {
  findingOf,
  isHeld,
  isInterrupt,
  promotedIn,
  promotion,
  released,
  requestEntry,
} from './steps.ts'

/** Claims a session that rests, and begins a turn with its waiting messages. */
export async function claimTurn(
  database: Database,
  { tenant, session }: WorkNotice,
  now: number,
): Promise<{ place: SessionLease; step: Step } | undefined> {
  const seen = await readSnapshot(database.read, tenant, session)
  if (!seen) return undefined
  const { head, queue = [] } = seen
  const hasMore = seen.hasOpenCalls || seen.hasEndpoint || head.stdio_ms !== null
  if (head.owner !== null || hasMore) return undefined
  if (actionFor(stateOf(head), findingOf([], queue)) !== 'promote') return undefined
  const messages = queue.map(({ message }) => message)
  const begun = head.url_servers === 1 ? undefined : newId('event')
  const entries = [...promotion(tenant, messages), ...(begun ? [requestEntry(begun)] : [])]
  const { self: owner } = database.owners
  const done = await appendOnto(database, { tenant, sessionId: session }, head, entries, {
    now,
    upTo: queue.at(-1)?.position ?? 0,
    due: true,
    claimed: { owner, untilMs: now + leaseMs },
  })
  if (!done) return undefined
  const place = { tenant, session, fence: { owner, generation: done.generation } }
  const step = { kind: 'turn' as const, open: [], promoted: promotedIn(queue) }
  return { place, step: begun ? { ...step, begun } : step }
}

/** Ends a turn that leaves no call open, as `finishTurn` does. */
export async function finishPlainTurn(
  database: Database,
  { tenant, session, fence }: SessionLease,
  { stop, last, isElsewhere = true }: TurnEnding,
  now: number,
): Promise<'rest' | 'more' | undefined> {
  if (stop.type !== 'end_turn' || isElsewhere || !isPlain(last)) return undefined
  const change = headChange(
    last.map(({ event }) => event),
    now,
  )
  if (change.status !== undefined) return undefined
  const seen = await readSnapshot(database.read, tenant, session)
  if (!seen?.queue || seen.hasOpenCalls || seen.hasEndpoint) return undefined
  const { head, queue } = seen
  if (!isHeld(head, fence) || queue.some(isInterrupt)) return undefined
  const more = queue.length > 0
  const entries = [...last, ...idle(withTokens(head, change), stop, now)]
  const end = { now, fence, due: more, set: more ? {} : released }
  const done = await appendOnto(database, { tenant, sessionId: session }, head, entries, end)
  if (!done) return undefined
  return more ? 'more' : 'rest'
}
