/**
 * The states of a work item and every way from one to another, as functions of the item and the time. Whoever calls holds
 * the row until the change is written. [work/state/queued] [work/state/lease-expired]
 */
import type { Heartbeat } from '@steward/protocol/work.ts'
import { iso } from '@steward/base/time.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type WorkItem = Tables['work']
export type ItemChange = Partial<WorkItem>

/** Of a lease, when the worker names none; it beats three times as often. */
export const leaseMs = 90_000
const shortestLeaseMs = 10_000
const longestLeaseMs = 300_000
/** How long a polled item stays hidden from other polls, when the poll names no time. */
export const reservationMs = 5_000

/** Who asks for work: by which key, and under which name, where the worker gives itself a name. */
export type Worker = { key: string; id: string | undefined }

const isLive = ({ state }: WorkItem): boolean => state !== 'stopped'
const isClaimed = ({ state }: WorkItem): boolean => state === 'starting' || state === 'active'

/** Handed out, under the next generation: whoever had it before has an older one, and its first heartbeat is nobody's yet. */
export const handedOut = (now: number, by: Worker | undefined): ItemChange => ({
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

/** A worker without a name is told from others by its key alone. */
const isAnother = ({ key_id, worker_id }: WorkItem, { key, id }: Worker): boolean =>
  (key_id !== null && key_id !== key) ||
  (worker_id !== null && id !== undefined && worker_id !== id)

/**
 * Refused as `another` when it was handed to another worker: of two that acknowledge, both would let go if the wrong one
 * came first. Undefined when it is not handed out, or has begun. Twice is the same as once.
 */
export function acknowledged(
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
    lease_ms: now + leaseMs,
    warned: 0,
    hinted: 0,
  }
}

export const none = 'NO_HEARTBEAT'

/** `stale`: the beat is not the next one of whoever owns the item. */
export type HeartbeatOutcome = { change: ItemChange; extended: boolean } | 'stale'

/** The first beat acknowledges. One whose answer was lost comes again as it was, however often, and is answered as it was. */
export function beaten(
  item: WorkItem,
  { expected, ttlMs, now }: { expected: string | undefined; ttlMs: number; now: number },
): HeartbeatOutcome {
  if (item.state === 'stopping' || item.state === 'stopped') return { change: {}, extended: false }
  if (item.state === 'queued' && item.reserved_ms === null) return 'stale'
  const { heartbeat_before } = item
  const last = item.heartbeat ?? none
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

/** Another text than any before, also within a millisecond, and when the clock was set back. */
function next(before: string | null, at: string): string {
  const [time = '', count = '0'] = (before ?? '').split('#')
  return time >= at ? `${time}#${Number(count) + 1}` : at
}

/** Asked to end: its worker learns with its next beat, and has a lease's time to put away what it has. */
export function stopping(item: WorkItem, now: number): ItemChange {
  if (!isLive(item) || item.state === 'stopping') return {}
  if (!isClaimed(item)) return stopped(item, now)
  return { state: 'stopping', stop_requested_at: iso(now), lease_ms: now + leaseMs }
}

export const stopped = (item: WorkItem, now: number): ItemChange =>
  isLive(item)
    ? {
        state: 'stopped',
        stopped_at: iso(now),
        lease_ms: null,
        reserved_ms: null,
        reserved_until_ms: null,
      }
    : {}

/** How many acknowledged claims in a row may leave a session with work undone; within the time, any number. */
export const mostAttempts = 5
export const attemptsWithinMs = 5 * 60_000

export type ItemAttempts = Pick<WorkItem, 'attempts' | 'left_first_ms' | 'left_last_ms'>

/** An attempt further. */
export const leftAgain = (
  { attempts, left_first_ms }: ItemAttempts,
  now: number,
): ItemAttempts => ({
  attempts: attempts + 1,
  left_first_ms: left_first_ms ?? now,
  left_last_ms: now,
})

/** Whether nobody is handed it any more. It does not become so by waiting. */
export const isExhausted = ({ attempts, left_first_ms, left_last_ms }: ItemAttempts): boolean =>
  attempts > mostAttempts && (left_last_ms ?? 0) - (left_first_ms ?? 0) >= attemptsWithinMs

/** Whether the one who has this generation may do what a worker does: it has been handed the item, and its lease holds. */
export function claimState(
  item: WorkItem,
  generation: number,
  now: number,
): 'current' | 'expired' | 'stale' {
  if (item.generation !== generation || item.state === 'stopped') return 'stale'
  if (item.state === 'queued') return item.reserved_ms === null ? 'stale' : 'current'
  return (item.lease_ms ?? 0) > now ? 'current' : 'expired'
}

export const heartbeatOf = (item: WorkItem, extended: boolean, now: number): Heartbeat => ({
  type: 'work_heartbeat',
  last_heartbeat: item.heartbeat ?? '',
  lease_extended: extended,
  state: item.state,
  ttl_seconds: Math.max(1, Math.round(((item.lease_ms ?? now + leaseMs) - now) / 1000)),
})
