/**
 * The two steps of nearly every turn, without a lock: each reads the session and writes only if the session did not
 * change since. When there is more to decide, or something came in between, these steps write nothing, and `steps.ts`
 * decides with the head locked.
 */
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { releasedLease, isHeldByAnother, leaseMs } from '../../ground/database/lease.ts'
import { appendIfUnchanged, concernsNoCall } from '../../sessions/log/append.ts'
import type { Head } from '../../sessions/log/head.ts'
import { headChange, isAtBudget, stateOf, withUsage } from '../../sessions/log/head.ts'
import { idleEntries, runningEntries } from '../../sessions/log/idle.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { hasOpenOutcome } from '../../sessions/log/outcome-stage.ts'
import type { Snapshot } from '../../sessions/log/snapshot.ts'
import { readSnapshot } from '../../sessions/log/snapshot.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import { actionFor } from './decision.ts'
import type { TurnEnding } from './finish-turn.ts'
import { isInterrupt } from './interrupts.ts'
import { decideStepFinding } from './step-finding.ts'
import type { SessionLease, Step } from './steps.ts'
import { budgetFlag, isHeld, requestEntry, runStarted } from './steps.ts'

/**
 * Claims an idle session and begins a turn with its waiting messages. `busy`: another living process holds the session
 * and sees everything that came before this call. Undefined when `steps.ts` has to decide.
 */
export async function claimTurn(
  database: Database,
  { tenant, session }: WorkNotice,
  { now, dead }: { now: number; dead: readonly string[] },
): Promise<{ lease: SessionLease; step: Step } | 'busy' | undefined> {
  const seen = await readSnapshot(database.read, tenant, session)
  if (!seen) return undefined
  if (isHeldByAnother(seen.head, database.owners.self, { now, dead })) return 'busy'
  if (!beginsPlainly(seen)) return undefined
  const { head, queue = [] } = seen
  const messages = queue.map(({ message }) => message)
  const begun = head.url_servers === 1 ? undefined : newId('event')
  const begins = [...runStarted(tenant), ...messages, ...runningEntries(head)]
  const entries = [...begins, ...(begun ? [requestEntry(begun)] : [])]
  const { self: owner } = database.owners
  const done = await appendIfUnchanged(database, { tenant, session }, head, entries, {
    now,
    upTo: queue.at(-1)?.position ?? 0,
    due: true,
    claimed: { owner, untilMs: now + leaseMs },
  })
  if (!done) return undefined
  const lease = { tenant, session, fence: { owner, generation: done.generation } }
  const after = { ...head, ...lease.fence, next_seq: done.last }
  after.running_since_ms ??= now
  const turn = { kind: 'turn' as const, ...budgetFlag(head) }
  const step = { ...turn, open: [], head: after }
  return { lease, step: begun ? { ...step, begun } : step }
}

const beginsPlainly = ({ head, queue = [], hasOpenCalls, hasEndpoint }: Snapshot): boolean =>
  head.owner === null &&
  head.threads === 0 &&
  head.stdio_ms === null &&
  !hasOpenCalls &&
  !hasEndpoint &&
  !hasOpenOutcome(head) &&
  actionFor(stateOf(head), decideStepFinding([], queue, head)) === 'promote'

/**
 * The head of a running turn after an append. Undefined, so that the caller reads it again, when more was stored or a
 * call is concerned.
 */
export function headAfter(
  head: Head,
  kept: readonly LogEntry[],
  last: number | undefined,
): Head | undefined {
  if (last === undefined) return undefined
  const change = headChange(kept, 0)
  if (change.status !== undefined || !concernsNoCall(kept)) return undefined
  return { ...withUsage(head, change), next_seq: last }
}

/**
 * Ends a turn that leaves no call open, as `finishTurn` does. Reads the session only if something may have come into
 * it.
 */
export async function finishPlainTurn(
  database: Database,
  lease: SessionLease,
  end: TurnEnding,
  now: number,
): Promise<'rest' | 'more' | undefined> {
  if (!endsPlainly(end) || lease.thread !== undefined) return undefined
  if (end.head && (await endOnto(database, lease, end.head, { ...end, more: false, now })))
    return 'rest'
  const seen = await readSnapshot(database.read, lease.tenant, lease.session)
  if (!seen?.queue || seen.hasOpenCalls || seen.hasEndpoint) return undefined
  if (!isHeld(seen.head, lease.fence) || concernsTurn(seen.queue)) return undefined
  if (hasOpenOutcome(seen.head) || seen.head.threads > 0) return undefined
  const more = seen.queue.length > 0
  if (!(await endOnto(database, lease, seen.head, { ...end, more, now }))) return undefined
  return more ? 'more' : 'rest'
}

/** True when an interrupt waits, or a message that joins the turn. */
const concernsTurn = (queue: NonNullable<Snapshot['queue']>): boolean =>
  queue.some(isInterrupt) || queue[0]?.steers === true

const endsPlainly = ({ stop, last, isElsewhere = true }: TurnEnding): boolean =>
  stop.type === 'end_turn' &&
  !isElsewhere &&
  concernsNoCall(last) &&
  headChange(last, 0).status === undefined

/** Returns false, and writes nothing, when the head has changed or the budget is reached. */
async function endOnto(
  database: Database,
  { tenant, session, fence }: SessionLease,
  head: Head,
  { stop, last, more, now }: TurnEnding & { more: boolean; now: number },
): Promise<boolean> {
  const counted = withUsage(head, headChange(last, now))
  if (isAtBudget(counted)) return false
  const entries = [...last, ...idleEntries(counted, stop, now)]
  const set = more ? {} : releasedLease
  const end = { now, fence, due: more, set }
  const done = await appendIfUnchanged(database, { tenant, session }, head, entries, end)
  return done !== undefined
}
