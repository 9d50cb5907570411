/**
 * Work items, changed within the transactions of the callers. Sessions enqueue items; workers on other machines claim
 * them, one worker at a time. The generation fences a claim, as the lease fences a session's runner. [work/poll-only]
 */
import type { SessionError } from '@steward/protocol/events.ts'
import type { Heartbeat } from '@steward/protocol/work.ts'
import { conflict, PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { openCalls } from '../log/calls.ts'
import type { Head } from '../log/head.ts'
import { isSessionOver, getHeadForUpdate, readHead, stateOf } from '../log/head.ts'
import { idleAgain } from '../log/idle.ts'
import { appendEntries } from '../log/append.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import type { ItemChange, WorkItem, ItemAttempts, Worker } from './item.ts'
import {
  acknowledgementChange,
  nextHeartbeat,
  claimChange,
  showHeartbeat,
  isExhausted,
  claimLeaseMs,
  countAttempt,
  mostClaimAttempts,
  immediateStop,
  stopRequest,
} from './item.ts'
import type { ClaimOptions } from './claimable.ts'
import { workStore } from './store.ts'
import { notifyLostClaims, notifyPollers } from './topics.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { toJson } from '../../ground/core/text/json-text.ts'

export type WorkSettings = {
  /** A session that is idle for this time is taken from its worker. */
  idleMs: number
  /** Work that is unclaimed for this time is reported to its session. */
  unclaimedMs: number
}

const againMs = 1_000
/** Pauses grow with the attempts. An item that was never acknowledged has no attempt and waits as after the first. */
const pauseMs = (attempts: number): number =>
  againMs * 2 ** Math.min(Math.max(attempts, 1), mostClaimAttempts)

type WorkItemRef = { tenant: string; environment: string; id: string }

/** The caller of the work API: a claim, or a key for all items. */
export type WorkCaller = { generation: number } | 'key'

/**
 * Enqueues work, unless the session has a live item. Call in the transaction that makes the work necessary, with the
 * session's head locked. The head is always locked before an item, which prevents deadlocks and second items. Returns
 * false when there was a live item.
 */
export async function enqueueItem(
  tx: Queries,
  { tenant, environment, session }: { tenant: string; environment: string; session: string },
  { now, left }: { now: number; left?: ItemAttempts },
): Promise<boolean> {
  const work = workStore(tx)
  const live = await work.findLiveForUpdate(tenant, session)
  if (live && !isAbandoned(live, now)) return false
  if (live) await work.change(live, immediateStop(live, now))
  const due = left ? now + pauseMs(left.attempts) : now
  await work.insert({
    tenant_id: tenant,
    environment_id: environment,
    id: newId('work'),
    session_id: session,
    state: 'queued',
    generation: 0,
    due_ms: due,
    reserved_ms: null,
    reserved_until_ms: null,
    worker_id: null,
    key_id: null,
    lease_ms: null,
    heartbeat: null,
    heartbeat_before: null,
    ...(left ?? { attempts: 0, left_first_ms: null, left_last_ms: null }),
    warned: 0,
    hinted: 0,
    metadata: toJson({}),
    created_at: iso(now),
    acknowledged_at: null,
    started_at: null,
    latest_heartbeat_at: null,
    stop_requested_at: null,
    stopped_at: null,
  })
  await outbox(tx).hint(tenant, session, { now, dueMs: due })
  return true
}

const isAbandoned = ({ state, lease_ms }: WorkItem, now: number): boolean =>
  state === 'stopping' && (lease_ms ?? 0) <= now

/**
 * Claims one item for this poller, under a new generation, and notifies the holder of the claim before; undefined when
 * there is none. An exhausted item ends instead.
 */
export async function claimNext(
  database: Database,
  tenant: string,
  environment: string,
  at: ClaimOptions,
): Promise<WorkItem | undefined> {
  for (;;) {
    const item = await database.writeStatement(async (tx) => {
      const claimed = await workStore(tx).claim(tenant, environment, at, claimChange(at.now, at.by))
      if (claimed && claimed.generation > 1 && !isExhausted(claimed))
        notifyLostClaims(tx, { work: claimed.id, below: claimed.generation })
      return claimed
    })
    if (!item || !isExhausted(item)) return item
    await database.write((tx) => giveUp(tx, item, at.now))
  }
}

/** Ends an exhausted item, unless another poller has claimed it in between. */
async function giveUp(tx: Queries, handed: WorkItem, now: number): Promise<void> {
  const { tenant_id: tenant, environment_id: environment, id, generation } = handed
  const { work, item } = await lockWithHead(tx, { tenant, environment, id })
  if (item.generation !== generation || item.state !== 'queued') return
  await work.change(item, immediateStop(item, now))
  notifyLostClaims(tx, { work: id, below: generation })
  if (await hasWork(tx, tenant, item.session_id)) await reportExhausted(tx, item, now)
}

/** Gives the item of a disconnected poller back, so that the next poll gets it at once. */
export async function returnItem(tx: Queries, handed: WorkItem): Promise<void> {
  const work = workStore(tx)
  const item = await work.getForUpdate(handed.tenant_id, handed.environment_id, handed.id)
  const isItself = item.generation === handed.generation && item.state === 'queued'
  if (!isItself) return
  await work.change(item, { reserved_ms: null, reserved_until_ms: null, worker_id: null })
  notifyPollers(tx, { environment: item.environment_id })
}

/** Optimistic update: read, decide, compare and set; repeats when the row changed in between. */
async function updateItem<T>(
  database: Database,
  { tenant, environment, id }: WorkItemRef,
  decide: (item: WorkItem) => Promise<{ change: ItemChange; answer: (item: WorkItem) => T }>,
): Promise<T> {
  for (;;) {
    const item = await workStore(database.read).row(tenant, environment, id)
    const { change, answer } = await decide(item)
    if (await database.writeStatement((db) => workStore(db).replace(item, change)))
      return answer({ ...item, ...change })
  }
}

export const acknowledgeItem = (
  database: Database,
  ref: WorkItemRef,
  by: Worker,
  now: number,
): Promise<WorkItem> =>
  updateItem(database, ref, async (item) => {
    const change = acknowledgementChange(item, by, now)
    if (change === 'another')
      throw conflict(
        `work ${item.id} is claimed by another worker; only that worker can acknowledge it`,
      )
    if (change) return { change, answer: (after) => after }
    const what = item.state === 'queued' ? 'is not claimed' : `is ${item.state}`
    throw conflict(`work ${item.id} ${what} and cannot be acknowledged`)
  })

export const beatItem = (
  database: Database,
  ref: WorkItemRef,
  {
    by,
    expected,
    ttlMs = claimLeaseMs,
  }: { by: WorkCaller; expected?: string | undefined; ttlMs?: number },
  { now, idleMs }: { now: number; idleMs: number },
): Promise<Heartbeat> =>
  updateItem(database, ref, async (item) => {
    if (by !== 'key' && by.generation !== item.generation) throw fenced(item, now)
    const beats =
      item.state === 'active' && (await hasRested(database.read, item, now, idleMs))
        ? { change: stopRequest(item, now), extended: false }
        : nextHeartbeat(item, { expected, ttlMs, now })
    if (beats === 'stale') throw fenced(item, now)
    return { change: beats.change, answer: (after) => showHeartbeat(after, beats.extended, now) }
  })

/**
 * The error for a heartbeat of a lost claim, or of a worker that does not know its last heartbeat.
 * [errors/case/stale-heartbeat]
 */
const fenced = (item: WorkItem, now: number) =>
  new PlatformError(
    'precondition_failed',
    `work ${item.id} was claimed by another, or its last heartbeat is a later one`,
    {
      error_code: 'heartbeat_precondition_failed',
      current_state: showHeartbeat(item, false, now),
    },
  )

/** True when the session has been idle for `idleMs` and no call waits for a client, so that its worker can leave. */
async function hasRested(db: Reads, item: WorkItem, now: number, idleMs: number): Promise<boolean> {
  const head = await readHead(db, item.tenant_id, item.session_id)
  const rests = head.status === 'idle' || head.status === 'pending'
  if (!rests || head.due === 1 || stateOf(head) === 'requires_action') return false
  const since = Math.max(head.idle_since_ms ?? 0, Date.parse(item.started_at ?? item.created_at))
  return now - since >= idleMs
}

/**
 * True when a turn has ended and no client or worker has to act. False in a new session: its worker may come before its
 * first turn.
 */
const isOver = (head: Head): boolean =>
  head.status === 'idle' &&
  head.stop_reason !== null &&
  head.due === 0 &&
  stateOf(head) !== 'requires_action'

/** Refused when another worker has claimed the item since: an earlier worker cannot stop a later one. */
export async function stopItem(
  tx: Queries,
  ref: WorkItemRef,
  { by, force }: { by: WorkCaller; force: boolean },
  now: number,
): Promise<WorkItem> {
  const { work, item } = await lockWithHead(tx, ref)
  if (by !== 'key' && by.generation !== item.generation) throw fenced(item, now)
  const change = force ? immediateStop(item, now) : stopRequest(item, now)
  await work.change(item, change)
  const now_ = { ...item, ...change }
  if (now_.state === 'stopped') {
    notifyLostClaims(tx, { work: item.id, below: item.generation + 1 })
    if (item.state !== 'stopped') await enqueueRest(tx, item, now)
  }
  return now_
}

/** Locks the session's head and its item, for changes after which the session may need another item. */
async function lockWithHead(tx: Queries, { tenant, environment, id }: WorkItemRef) {
  const work = workStore(tx)
  await getHeadForUpdate(tx, tenant, (await work.row(tenant, environment, id)).session_id)
  return { work, item: await work.getForUpdate(tenant, environment, id) }
}

/** Asks the worker of an archived, deleted or interrupted session to stop, if there is an item. */
export async function requestItemStop(
  tx: Queries,
  tenant: string,
  session: string,
  now: number,
): Promise<void> {
  const work = workStore(tx)
  const item = await work.findLiveForUpdate(tenant, session)
  if (item) await work.change(item, stopRequest(item, now))
}

/**
 * Call when a worker has left a session. Enqueues the rest of the work, until the item is exhausted. An item that was
 * never acknowledged does not count as an attempt.
 */
async function enqueueRest(tx: Queries, item: WorkItem, now: number): Promise<void> {
  const { tenant_id: tenant, environment_id: environment, session_id: session } = item
  if (!(await hasWork(tx, tenant, session))) return
  const { attempts, left_first_ms, left_last_ms } = item
  const before = { attempts, left_first_ms, left_last_ms }
  const left = item.acknowledged_at === null ? before : countAttempt(item, now)
  if (isExhausted(left)) await reportExhausted(tx, { ...item, ...left }, now)
  else await enqueueItem(tx, { tenant, environment, session }, { now, left })
}

/** Stops an unclaimed item of a session without work, which would only occupy the next worker. */
export const withdrawItem = (
  tx: Queries,
  tenant: string,
  session: string,
  now: number,
): Promise<void> => workStore(tx).stopFree(tenant, session, now)

async function reportExhausted(tx: Queries, item: WorkItem, now: number): Promise<void> {
  const message = `workers left this session ${item.attempts} times in a row with work undone; send a message or an interrupt to go on`
  const error = { type: 'unknown_error', message, retry_status: { type: 'exhausted' } } as const
  await reportError(tx, item, error, now)
}

async function reportError(
  tx: Queries,
  item: WorkItem,
  error: SessionError,
  now: number,
): Promise<void> {
  const { tenant_id: tenant, session_id: session } = item
  const head = await readHead(tx, tenant, session)
  if (isSessionOver(head)) return
  const event = { id: newId('event'), type: 'session.error', error } as const
  await appendEntries(tx, tenant, session, [{ event }, ...idleAgain(head, now)], { now })
}

/** True when the session has work: a call waits for a worker, or a turn runs or is due. */
async function hasWork(tx: Queries, tenant: string, session: string): Promise<boolean> {
  const head = await readHead(tx, tenant, session)
  const { status, due } = head
  if (isSessionOver(head)) return false
  if (due === 1 || status === 'running' || status === 'rescheduling') return true
  const calls = await openCalls(tx, tenant, session)
  return calls.some(({ type, state }) => type === 'agent.tool_use' && state === 'waiting')
}

/**
 * Ends expired leases and reservations, and reports unclaimed work, at most `limit` items of each kind. Returns true
 * when there are no more.
 */
export async function settleOverdue(
  tx: Queries,
  { now, unclaimedMs, limit }: { now: number; unclaimedMs: number; limit: number },
): Promise<boolean> {
  const work = workStore(tx)
  await work.clampFutureTimes(now)
  const overdue = await work.overdue(now, limit)
  for (const each of overdue) {
    const { item } = await lockWithHead(tx, refOf(each))
    if (!isAbandoned(item, now)) continue
    await work.change(item, immediateStop(item, now))
    await enqueueRest(tx, item, now)
  }
  const lapsed = await work.lapsed(now, limit)
  for (const each of lapsed) {
    const { item } = await lockWithHead(tx, refOf(each))
    if (item.hinted === 0 && hasLapsed(item, now)) await announceLapsed(tx, item, now)
  }
  const unclaimed = await work.unclaimed(now - unclaimedMs, limit)
  for (const each of unclaimed) {
    const { item } = await lockWithHead(tx, refOf(each))
    if (item.warned || isTaken(item, now - unclaimedMs)) continue
    await work.change(item, { warned: 1 })
    await reportUnclaimed(tx, item, now, unclaimedMs)
  }
  return [overdue, lapsed, unclaimed].every(({ length }) => length < limit)
}

const refOf = ({ tenant_id: tenant, environment_id: environment, id }: WorkItem): WorkItemRef => ({
  tenant,
  environment,
  id,
})

const hasLapsed = ({ state, lease_ms, reserved_until_ms }: WorkItem, now: number): boolean =>
  state !== 'stopping' && state !== 'stopped' && (lease_ms ?? reserved_until_ms ?? now + 1) <= now

/**
 * Announces once that a lapsed item can be claimed; stops the item when its session has no work. Until another worker
 * claims the item, its own worker may still send a late heartbeat.
 */
async function announceLapsed(tx: Queries, item: WorkItem, now: number): Promise<void> {
  const { tenant_id: tenant, session_id: session, environment_id: environment } = item
  const isWanted = !isOver(await readHead(tx, tenant, session))
  await workStore(tx).change(item, isWanted ? { hinted: 1 } : immediateStop(item, now))
  if (!isWanted) return
  notifyPollers(tx, { environment })
  await outbox(tx).hint(tenant, session, { now })
}

const isTaken = ({ state, due_ms, lease_ms }: WorkItem, before: number): boolean =>
  state === 'stopping' || state === 'stopped' || (lease_ms ?? due_ms) > before

async function reportUnclaimed(tx: Queries, item: WorkItem, now: number, unclaimedMs: number) {
  const message = `no worker of environment ${item.environment_id} has taken this session for ${unclaimedMs / 1000} seconds; it waits for one`
  const error = { type: 'unknown_error', message, retry_status: { type: 'retrying' } } as const
  await reportError(tx, item, error, now)
}

/** Enqueues work if the environment is `self_hosted`, and notifies its workers. */
export async function enqueueSession(
  tx: Queries,
  { tenant_id: tenant, id: session, environment_id: environment, self_hosted }: SessionRow,
  now: number,
): Promise<void> {
  if (self_hosted === 0) return
  if (await enqueueItem(tx, { tenant, environment, session }, { now }))
    notifyPollers(tx, { environment })
}
