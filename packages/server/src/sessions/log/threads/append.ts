/** Appends to the log of a session on behalf of one of its threads. */
import type { NewEvent } from '@steward/protocol/events.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { statementByForm, statement } from '../../../ground/database/statement.ts'
import type { Fence } from '../../../ground/database/lease.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'
import type { AppendedRange, HeadSet } from '../append.ts'
import { appendEntries } from '../append.ts'
import type { Head } from '../head.ts'
import {
  changedColumns,
  headChange,
  isOfTurn,
  getHeadForUpdate,
  spendingCounters,
} from '../head.ts'
import type { LogEntry, PromotedMessage } from '../log.ts'
import { isShared } from '../shared-events.ts'
import type { SessionRef, ThreadRef } from '../../../ground/core/refs.ts'
import { threadColumns } from '../thread-columns.ts'
import { hasOthersDue, threadIdOf } from './team.ts'
import type { ThreadRow } from './store.ts'

export type HeldThread = ThreadRef & { fence: Fence }

type ThreadCounter = (typeof spendingCounters)[number]

/** How an append changes the row of a thread. `began`, `ended`: when its turn began or ended, in milliseconds. */
type ThreadChange = Partial<
  Pick<
    ThreadRow,
    | 'status'
    | 'stop_reason'
    | 'due'
    | 'halted'
    | 'recoveries'
    | 'idle_since_ms'
    | 'unpriced'
    | 'archived_at'
  >
> & { began?: number; ended?: number } & { [Name in ThreadCounter]?: number }

const statusAfter: { [T in NewEvent['type']]?: ThreadRow['status'] } = {
  'session.thread_status_running': 'running',
  'session.thread_status_rescheduled': 'rescheduling',
  'session.thread_status_idle': 'idle',
  'session.thread_status_terminated': 'done',
}

/** How events change the row of their thread. The row of the primary thread counts no usage; see `spentByPrimary`. */
function changeOf(entries: readonly LogEntry[], ref: ThreadRef, now: number): ThreadChange {
  const id = threadIdOf(ref)
  const change: ThreadChange = {}
  for (const { event } of entries) {
    if (isOfTurn(event)) change.recoveries = 0
    const status =
      'agent_name' in event && event.session_thread_id === id && statusAfter[event.type]
    if (!status) continue
    change.status = status
    if (event.type === 'session.thread_status_idle') change.stop_reason = toJson(event.stop_reason)
    else if (status === 'done') change.archived_at = iso(now)
    else change.stop_reason = null
    if (status === 'idle') change.idle_since_ms = now
    else change.halted = 0
  }
  // When one commit holds an idle event and the next beginning, the beginning counts.
  if (change.status) change[change.status === 'running' ? 'began' : 'ended'] = now
  if (ref.thread === undefined) return change
  const { unpriced, ...spent } = headChange(entries, now)
  for (const name of spendingCounters) if (spent[name] !== undefined) change[name] = spent[name]
  return { ...change, ...(unpriced !== undefined && { unpriced }) }
}

async function updateThread(
  tx: Queries,
  { tenant, ...ref }: ThreadRef,
  change: ThreadChange,
  now: number,
): Promise<void> {
  const fields = Object.keys(change) as (keyof ThreadChange)[]
  if (fields.length === 0) return
  const at = { tenant, session: ref.session, id: threadIdOf(ref), updated_at: iso(now) }
  await threadUpdate(...fields.toSorted())(tx, { ...at, change })
}

type ThreadUpdate = SessionRef & { id: string; updated_at: string; change: ThreadChange }

/** A statement is kept for each set of changed fields: a few dozen statements. */
const threadUpdate = statementByForm((...fields: (keyof ThreadChange)[]) =>
  statement(
    (tx, slot: SlotFor<ThreadUpdate>) => {
      const changed: SlotFor<ThreadChange> = (pick) => slot(({ change }) => pick(change))
      return tx
        .updateTable('threads')
        .set({
          ...changedColumns(fields, changed),
          updated_at: slot(({ updated_at }) => updated_at),
        })
        .where((eb) => eb.and(threadColumns(slot)))
    },
    { isResultless: true },
  ),
)

/** True when a turn waits to repeat a model request, or continues. */
export const isStatus = ({ event: { type } }: LogEntry): boolean =>
  type === 'session.status_rescheduled' || type === 'session.status_running'

/** Replaces status events of the session by those of its thread, because the session has other threads. */
async function saidOfThread(
  tx: Queries,
  { tenant, ...ref }: ThreadRef,
  kept: readonly LogEntry[],
): Promise<readonly LogEntry[]> {
  if (!kept.some(isStatus)) return kept
  const { name } = await tx
    .selectFrom('threads')
    .select('name')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', ref.session)
    .where('id', '=', threadIdOf(ref))
    .executeTakeFirstOrThrow()
  const named = { session_thread_id: threadIdOf(ref), agent_name: name }
  return kept.map((entry) => {
    const { id, type } = entry.event
    if (type === 'session.status_rescheduled')
      return { event: { id, type: 'session.thread_status_rescheduled', ...named } }
    if (type === 'session.status_running')
      return { event: { id, type: 'session.thread_status_running', ...named } }
    return entry
  })
}

/** True for events that belong to the session as a whole, whichever thread causes them. */
const isOfSession = ({ type }: NewEvent): boolean =>
  type.startsWith('session.status_') ||
  type === 'session.usage' ||
  type === 'session.thread_created'

/**
 * Assigns the entries to the thread. Entries that the stream of the session shows too get the thread's id as a field.
 */
function markedFor(thread: string | undefined, entries: readonly (LogEntry | PromotedMessage)[]) {
  if (thread === undefined) return entries
  return entries.map((entry): LogEntry | PromotedMessage => {
    if (entry.thread !== undefined) return entry
    if (!('event' in entry)) return { ...entry, thread }
    if (isOfSession(entry.event)) return entry
    const { event } = entry
    const isNamed = !isShared(event) || 'session_thread_id' in event
    return isNamed
      ? { ...entry, thread }
      : { ...entry, thread, event: { ...event, session_thread_id: thread } as NewEvent }
  })
}

/**
 * Appends the entries of a step. In a session with one thread (a head without a team) this is `appendEntries`. With
 * several threads the lease is released only when no other thread is due.
 */
export async function appendStep(
  tx: Queries,
  ref: HeldThread,
  head: Head,
  entries: readonly (LogEntry | PromotedMessage)[],
  { now, due, set = {} }: { now: number; due?: boolean; set?: HeadSet },
): Promise<AppendedRange | undefined> {
  const { tenant, session, thread, fence } = ref
  const { team } = head
  const isDue = due === undefined ? {} : { due }
  if (!team) return appendEntries(tx, tenant, session, entries, { now, fence, ...isDue, set })
  const { halted, owner, expires_at, ...ofSession } = set
  const rests = due === false && !hasOthersDue(team)
  const free: HeadSet =
    rests && owner === null ? { owner, ...(expires_at !== undefined && { expires_at }) } : {}
  const written = await appendEntries(tx, tenant, session, markedFor(thread, entries), {
    now,
    fence,
    ...(due !== undefined && { due: !rests }),
    dueThreads: [],
    set: { ...ofSession, ...free },
  })
  if (!written) return undefined
  const own = entries.filter((entry) => 'event' in entry)
  const change: ThreadChange = {
    ...changeOf(own, ref, now),
    ...(halted !== undefined && { halted }),
    ...(due !== undefined && { due: due ? 1 : 0 }),
  }
  await updateThread(tx, ref, change, now)
  return written
}

/** Appends events of a running turn of any thread. */
export async function appendInThread(
  tx: Queries,
  ref: HeldThread,
  kept: readonly LogEntry[],
  now: number,
): Promise<AppendedRange | undefined> {
  const { tenant, session, thread, fence } = ref
  const isAlone =
    thread === undefined &&
    (!kept.some(isStatus) || (await getHeadForUpdate(tx, tenant, session)).threads === 0)
  if (isAlone) return appendEntries(tx, tenant, session, kept, { now, fence })
  const entries = markedFor(thread, await saidOfThread(tx, ref, kept))
  const written = await appendEntries(tx, tenant, session, entries, { now, fence })
  if (!written) return undefined
  const own = entries.filter((entry) => 'event' in entry)
  await updateThread(tx, ref, changeOf(own, ref, now), now)
  return written
}
