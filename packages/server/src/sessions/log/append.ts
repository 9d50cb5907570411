/** Appends to the log, and notifies readers and runners after the commit. */
import { iso } from '@steward/base/time.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import {
  countedInsertion,
  insertsAtOnce,
  fitsOneStatement,
} from '../../ground/database/counted-insertion.ts'
import type { Connection, Database, Queries } from '../../ground/database/database.ts'
import type { HeadClaim, Fence } from '../../ground/database/lease.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { findWebhookCauses } from '../../tenants/webhooks/kinds.ts'
import { hasEndpoint, outbox } from '../../tenants/webhooks/outbox.ts'
import type { CallChanges } from './calls.ts'
import type { CallsForm } from './calls.ts'
import { callChanges, callsBeside, callsForm, projectCalls } from './calls.ts'
import { fieldsText } from './fields.ts'
import { isShared } from './shared-events.ts'
import type { Head, HeadChange, SeenHead } from './head.ts'
import { headChange, headColumns } from './head.ts'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import { makeDue } from './threads/due.ts'
import { removalUpTo } from './inbox.ts'
import type { LogEntry, PromotedMessage } from './log.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import { sessionColumns } from './thread-columns.ts'
import { announceChange, announceRowChange, notifyReaders, notifyRunners } from './topics.ts'
import { pauseText } from './pause.ts'
import { spentText } from './spent.ts'

/** Columns of the head that the append sets in the same statement. */
export type HeadSet = Pick<
  HeadChange,
  | 'owner'
  | 'expires_at'
  | 'awaits_stdio'
  | 'stdio_ms'
  | 'url_servers'
  | 'outcome'
  | 'claimed'
  | 'budget'
  | 'budget_told'
  | 'halted'
  | 'recoveries'
  | 'threads'
  | 'status'
>

type LogGrowth = SessionRef & {
  count: number
  fence?: Fence | undefined
  seen?: SeenHead | undefined
  change: HeadChange
  /** The entries are the messages of the inbox up to this position. */
  upTo: number
  calls: CallChanges
}

type AppendConditions = Record<'listens' | 'fenced' | 'seen' | 'quiet' | 'taken', boolean>

/** A statement is kept for each combination of these values: a few dozen statements. */
type AppendForm = readonly [
  ...conditions: [listens: boolean, fenced: boolean, seen: boolean, quiet: boolean, taken: boolean],
  calls: CallsForm,
  ...fields: (keyof HeadChange)[],
]

const formOf = (
  {
    listens = false,
    fenced = false,
    seen = false,
    quiet = false,
    taken = false,
  }: Partial<AppendConditions>,
  change: HeadChange,
  calls: CallsForm = 0,
): AppendForm => [
  listens,
  fenced,
  seen,
  quiet,
  taken,
  calls,
  ...(Object.keys(change) as (keyof HeadChange)[]),
]

type AppendedHead = Pick<Head, 'next_seq' | 'generation' | 'threads'> & {
  listens?: boolean | number
}

const insertEvents = countedInsertion<LogGrowth, AppendedHead, AppendForm>(
  'events',
  { seq: 'next_seq' },
  (listens, fenced, seen, quiet, taken, calls, ...fields) => ({
    update(tx, slot) {
      const ref = sessionColumns(slot)
      const count = slot((growth) => growth.count)
      const owner = slot(({ fence }) => fence?.owner ?? '')
      const generation = slot(({ fence, seen }) => fence?.generation ?? seen?.generation ?? 0)
      const changed: SlotFor<HeadChange> = (pick) => slot(({ change }) => pick(change))
      const next_seq = slot(({ seen }) => seen?.next_seq ?? 0)
      const next_position = slot(({ seen }) => seen?.next_position ?? 0)
      return tx
        .updateTable('session_heads')
        .set((eb) => ({
          next_seq: eb('next_seq', '+', count),
          ...headColumns(fields, changed),
        }))
        .where((eb) => eb.and(ref))
        .$if(fenced, (query) => query.where((eb) => eb.and({ owner, generation })))
        .$if(seen, (query) => query.where((eb) => eb.and({ generation, next_seq, next_position })))
        .$if(fields.includes('claimed'), (query) => query.where('owner', 'is', null))
        .$if(quiet, (query) => query.where(sql<boolean>`not ${hasEndpoint(ref.tenant_id)}`))
        .returning(['next_seq', 'generation', 'threads'])
        .$if(listens, (query) => query.returning(hasEndpoint(ref.tenant_id).as('listens')))
    },
    beside: taken ? removeTaken : calls === 0 ? undefined : callsBeside(calls),
  }),
)

const noCalls: CallChanges = { opened: [], settled: [] }

const removeTaken = (tx: Connection, slot: SlotFor<LogGrowth>, isFound: RawBuilder<boolean>) =>
  removalUpTo(
    tx,
    sessionColumns(slot),
    slot(({ upTo }) => upTo),
  ).where(isFound)

/** The rows of the entries. `seq` is relative to the last one, which has 0. */
function rowsOf(
  entries: readonly (LogEntry | PromotedMessage)[],
  { tenant, session: sessionId, now }: SessionRef & { now: number },
) {
  const at = iso(now)
  const hasThreads = entries.some(({ thread }) => thread !== undefined)
  return entries.map(({ thread, ...entry }, index) => ({
    tenant_id: tenant,
    session_id: sessionId,
    seq: index - entries.length + 1,
    processed_at: at,
    ...('event' in entry ? rowOf(entry, at) : { ...entry, opaque: null }),
    // All rows of a statement have the same columns. Most appends need none of these two.
    ...(hasThreads && { thread_id: thread ?? null, shared: sharedOf(thread, entry) }),
  }))
}

const sharedOf = (thread: string | undefined, entry: LogEntry | PromotedMessage): 'yes' | null =>
  thread !== undefined && isShared('event' in entry ? entry.event : entry) ? 'yes' : null

/** The entries that may change the head or a call. Messages from the inbox change neither. */
const madeIn = (entries: readonly (LogEntry | PromotedMessage)[]): LogEntry[] =>
  entries.filter((entry) => 'event' in entry)

const eventsIn = (entries: readonly (LogEntry | PromotedMessage)[]): NewEvent[] =>
  madeIn(entries).map(({ event }) => event)

/** A runner that holds the session, and so has a fence, needs no notification. */
function notifyAppended(
  tx: Queries,
  { tenant, session: sessionId }: SessionRef,
  entries: readonly (LogEntry | PromotedMessage)[],
  startsRunner: boolean,
): void {
  const promoted = entries.flatMap((entry) =>
    !('event' in entry) && entry.type === 'user.message' ? entry.id : [],
  )
  if (promoted.length > 0) notifyReaders(tx, sessionId, { kind: 'promoted', ids: promoted })
  if (entries.length > 0) announceChange(tx, tenant, sessionId)
  else announceRowChange(tx, tenant, sessionId)
  if (startsRunner) notifyRunners(tx, { tenant, session: sessionId })
}

export type AppendedRange = { first: number; last: number }

/**
 * Appends the entries under the next numbers and updates the head, within the caller's transaction. `due` marks the
 * session as due; in a session with several threads it also marks `dueThreads`, by default the primary thread. Returns
 * undefined, and writes nothing, when the fence no longer holds because the session has another owner.
 */
export async function appendEntries(
  tx: Queries,
  tenant: string,
  sessionId: string,
  entries: readonly (LogEntry | PromotedMessage)[],
  {
    now,
    fence,
    due,
    set,
    dueThreads = [primaryThreadId(sessionId)],
  }: { now: number; fence?: Fence; due?: boolean; set?: HeadSet; dueThreads?: readonly string[] },
): Promise<AppendedRange | undefined> {
  const events = eventsIn(entries)
  const change = { ...headChange(madeIn(entries), now), ...set }
  if (due !== undefined) change.due = due ? 1 : 0
  const told = findWebhookCauses(events)
  const holds = { listens: told.length > 0, fenced: fence !== undefined }
  const calls = callChanges(entries)
  const beside = insertsAtOnce(tx, entries.length) ? callsForm(calls) : undefined
  const form = formOf(holds, change, beside)
  const growth = {
    tenant,
    session: sessionId,
    count: entries.length,
    fence,
    change,
    upTo: 0,
    calls,
  }
  const head = await insertEvents(
    tx,
    form,
    growth,
    rowsOf(entries, { tenant, session: sessionId, now }),
  )
  if (!head) return undefined
  notifyAppended(tx, growth, entries, due === true && fence === undefined)
  if (due && head.threads === 1) await makeDue(tx, { tenant, session: sessionId }, dueThreads)
  if (head.listens) await outbox(tx).fromLog(tenant, told, sessionId, now)
  const { next_seq: last } = head
  if (beside === undefined) await projectCalls(tx, { tenant, session: sessionId }, calls, last)
  return { first: last - entries.length + 1, last }
}

/** Like `appendEntries`, in a unit of its own. */
export function appendInUnit(
  database: Database,
  { tenant, session: sessionId }: SessionRef,
  entries: readonly LogEntry[],
  options: { now: number; fence?: Fence },
): Promise<AppendedRange | undefined> {
  const unit = (tx: Queries) => appendEntries(tx, tenant, sessionId, entries, options)
  const events = eventsIn(entries)
  const isOneStatement =
    fitsOneStatement(entries.length) &&
    callsForm(callChanges(entries)) !== undefined &&
    findWebhookCauses(events).length === 0
  return isOneStatement ? database.writeStatement(unit) : database.write(unit)
}

/** True when one statement can append the entries and they open or settle no call. */
export const concernsNoCall = (entries: readonly (LogEntry | PromotedMessage)[]): boolean =>
  fitsOneStatement(entries.length) && callsForm(callChanges(entries)) === 0

/**
 * Appends entries that open or settle no call, in a unit of its own, if the head still equals `seen`. Few entries take
 * one statement on Postgres. Returns undefined, and writes nothing, when anything came into the session since, when a
 * webhook waits for these events, or when the fence does not hold. Without a fence the append claims the session, if it
 * has no owner. `upTo`: the entries are the messages of the inbox up to this position, which the append removes.
 */
export async function appendIfUnchanged(
  database: Database,
  { tenant, session: sessionId }: SessionRef,
  seen: SeenHead,
  entries: readonly (LogEntry | PromotedMessage)[],
  {
    now,
    upTo,
    due,
    ...by
  }: { now: number; upTo?: number; due: boolean } & (
    | { fence: Fence; set?: HeadSet }
    | { claimed: HeadClaim }
  ),
): Promise<(AppendedRange & { generation: number }) | undefined> {
  const events = eventsIn(entries)
  const change: HeadChange = { ...headChange(madeIn(entries), now), due: due ? 1 : 0 }
  if ('claimed' in by) change.claimed = by.claimed
  else Object.assign(change, by.set)
  const fence = 'fence' in by ? by.fence : undefined
  const quiet = findWebhookCauses(events).length > 0
  const holds = { fenced: fence !== undefined, seen: true, quiet, taken: upTo !== undefined }
  const form = formOf(holds, change)
  const ref = { tenant, session: sessionId }
  const count = entries.length
  const growth = { ...ref, count, fence, seen, change, upTo: upTo ?? 0, calls: noCalls }
  const rows = rowsOf(entries, { tenant, session: sessionId, now })
  const unit = async (tx: Queries) => {
    const appended = await insertEvents(tx, form, growth, rows)
    if (appended) notifyAppended(tx, ref, entries, false)
    return appended
  }
  const head = await (fitsOneStatement(count)
    ? database.writeStatement(unit)
    : database.write(unit))
  if (!head) return undefined
  const { next_seq: last, generation } = head
  return { first: last - entries.length + 1, last, generation }
}

const rowOf = ({ event, data, opaque, model, retry_ms }: LogEntry, created_at: string) => ({
  id: event.id,
  type: event.type,
  created_at,
  data: data ?? fieldsText(event),
  opaque: opaque ?? spentText({ event, model }) ?? pauseText(retry_ms),
})
