/**
 * The states of a work item and all transitions, as functions of the item and the time. The caller holds the row until
 * the change is written. [work/state/queued] [work/state/lease-expired]
 */
import type { Heartbeat } from '@steward/protocol/work.ts'
import { iso } from '@steward/base/time.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type WorkItem = Tables['work']
export type ItemChange = Partial<WorkItem>

/** Length of a lease when the worker names none. A worker sends three heartbeats within it. */
export const claimLeaseMs = 90_000
const shortestLeaseMs = 10_000
const longestLeaseMs = 300_000
/** Time for which a claimed item stays hidden from other polls, unless the poll names a time. */
export const reservationMs = 5_000

/** A polling worker: its key, and the name that it gives itself, if any. */
export type Worker = { key: string; id: string | undefined }

const isLive = ({ state }: WorkItem): boolean => state !== 'stopped'
const isClaimed = ({ state }: WorkItem): boolean => state === 'starting' || state === 'active'

/**
 * Claims the item under the next generation, which makes earlier claims stale. No heartbeat is expected before the
 * acknowledgement.
 */
export const claimChange = (now: number, by: Worker | undefined): ItemChange => ({
  state: 'queued',
  reserved_ms: now,
  worker_id: by?.id ?? null,
  key_id: by?.key ?? null,
  lease_ms: null,
  heartbeat: null,
  heartbeat_before: null,
  acknowledged_at: null,
  started_at: null,
  latest_heartbeat_at: null,
  hinted: 0,
})

/** Workers without a name are distinguished by their keys only. */
const isAnother = ({ key_id, worker_id }: WorkItem, { key, id }: Worker): boolean =>
  (key_id !== null && key_id !== key) ||
  (worker_id !== null && id !== undefined && worker_id !== id)

/**
 * Returns `another` when another worker has claimed the item. If the wrong worker's acknowledgement counted, both
 * workers would drop the item. Undefined when the item is not claimed, or is acknowledged already. A repeated
 * acknowledgement has the same effect as the first.
 */
export function acknowledgementChange(
  item: WorkItem,
  by: Worker,
  now: number,
): ItemChange | 'another' | undefined {
  const isAcknowledged = item.state === 'starting' && item.heartbeat === null
  if (!isAcknowledged && (item.state !== 'queued' || item.reserved_ms === null)) return undefined
  if (isAnother(item, by)) return 'another'
  const named = item.worker_id === null && by.id !== undefined ? { worker_id: by.id } : {}
  if (isAcknowledged) return named
  return {
    ...named,
    state: 'starting',
    acknowledged_at: iso(now),
    lease_ms: now + claimLeaseMs,
    warned: 0,
    hinted: 0,
  }
}

export const noAttempts = 'NO_HEARTBEAT'

/** `stale`: the heartbeat is not the next one of the current claim. */
export type HeartbeatOutcome = { change: ItemChange; extended: boolean } | 'stale'

/**
 * The first heartbeat acknowledges the item. A repeated heartbeat, whose answer was lost, gets the same answer, however
 * often it comes.
 */
export function nextHeartbeat(
  item: WorkItem,
  { expected, ttlMs, now }: { expected: string | undefined; ttlMs: number; now: number },
): HeartbeatOutcome {
  if (item.state === 'stopping' || item.state === 'stopped') return { change: {}, extended: false }
  if (item.state === 'queued' && item.reserved_ms === null) return 'stale'
  const { heartbeat_before } = item
  const last = item.heartbeat ?? noAttempts
  const isAgain = expected !== undefined && expected === heartbeat_before
  if (!isAgain && expected !== undefined && expected !== last) return 'stale'
  const at = iso(now)
  return {
    extended: true,
    change: {
      state: 'active',
      ...(isAgain ? {} : { heartbeat: next(item.heartbeat, at), heartbeat_before: last }),
      lease_ms: now + Math.min(Math.max(ttlMs, shortestLeaseMs), longestLeaseMs),
      warned: 0,
      hinted: 0,
      acknowledged_at: item.acknowledged_at ?? at,
      started_at: item.started_at ?? at,
      latest_heartbeat_at: at,
    },
  }
}

/** Differs from every earlier value, also within a millisecond and after the clock was set back. */
function next(before: string | null, at: string): string {
  const [time = '', count = '0'] = (before ?? '').split('#')
  return time >= at ? `${time}#${Number(count) + 1}` : at
}

/**
 * Asks a claimed item's worker to stop. The worker learns this with its next heartbeat and has the length of a lease to
 * store its files. An item without a worker stops at once.
 */
export function stopRequest(item: WorkItem, now: number): ItemChange {
  if (!isLive(item) || item.state === 'stopping') return {}
  if (!isClaimed(item)) return immediateStop(item, now)
  return { state: 'stopping', stop_requested_at: iso(now), lease_ms: now + claimLeaseMs }
}

export const immediateStop = (item: WorkItem, now: number): ItemChange =>
  isLive(item)
    ? {
        state: 'stopped',
        stopped_at: iso(now),
        lease_ms: null,
        reserved_ms: null,
        reserved_until_ms: null,
      }
    : {}

/** How many acknowledged claims in a row may leave work undone. Within `attemptsWithinMs` the number is unlimited. */
export const mostClaimAttempts = 5
export const attemptsWithinMs = 5 * 60_000

export type ItemAttempts = Pick<WorkItem, 'attempts' | 'left_first_ms' | 'left_last_ms'>

/** Counts one more attempt. */
export const countAttempt = (
  { attempts, left_first_ms }: ItemAttempts,
  now: number,
): ItemAttempts => ({
  attempts: attempts + 1,
  left_first_ms: left_first_ms ?? now,
  left_last_ms: now,
})

/** True when the item cannot be claimed any more. Waiting alone does not exhaust an item. */
export const isExhausted = ({ attempts, left_first_ms, left_last_ms }: ItemAttempts): boolean =>
  attempts > mostClaimAttempts && (left_last_ms ?? 0) - (left_first_ms ?? 0) >= attemptsWithinMs

/** The state of the claim with this generation. The lease or reservation of a `current` claim has not expired. */
export function claimState(
  item: WorkItem,
  generation: number,
  now: number,
): 'current' | 'expired' | 'stale' {
  if (item.generation !== generation || item.state === 'stopped') return 'stale'
  if (item.state === 'queued') return item.reserved_ms === null ? 'stale' : 'current'
  return (item.lease_ms ?? 0) > now ? 'current' : 'expired'
}

export const showHeartbeat = (item: WorkItem, extended: boolean, now: number): Heartbeat => ({
  type: 'work_heartbeat',
  last_heartbeat: item.heartbeat ?? '',
  lease_extended: extended,
  state: item.state,
  ttl_seconds: Math.max(1, Math.round(((item.lease_ms ?? now + claimLeaseMs) - now) / 1000)),
})
