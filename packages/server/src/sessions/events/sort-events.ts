/** Sorts the events of one request: into inbox or log, and by thread. */
import type { EventOf, NewEvent } from '@steward/protocol/events.ts'
import { iso } from '@steward/base/time.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId, primaryThreadId } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import { listOpenCalls } from '../log/calls.ts'
import { fieldsText } from '../log/fields.ts'
import type { Head, ThreadState } from '../log/head.ts'
import type { Admission, WaitingEvent } from '../log/inbox.ts'
import { toAdmission, admitEvents } from '../log/inbox.ts'
import type { StoredEvent } from '../log/log.ts'
import { makeDue } from '../log/threads/due.ts'
import { isWorking } from '../log/threads/team.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { wakeupStore } from '../rows/wakeups.ts'

/**
 * The events of one request by their place: `waits` go into the inbox, `kept` into the log. `stands` maps the id of
 * each other event to what is shown for it: an event of the log, or the id of an earlier event of the request.
 */
export type SortedEvents = {
  waits: WaitingEvent[]
  kept: NewEvent[]
  stands: Map<string, StoredEvent | string>
  /** Interrupts of child threads. */
  interrupts: { event: EventOf<'user.interrupt'>; thread: string }[]
  /** The child threads that kept events belong to, by the ids of the events. */
  threads: Map<string, string>
}
export type PostTarget = {
  tx: Queries
  tenant: string
  sessionId: string
  head: Head
  now: number
} & {
  session: SessionRow
}
export const emptySorting = (): SortedEvents => ({
  waits: [],
  kept: [],
  stands: new Map(),
  interrupts: [],
  threads: new Map(),
})

export const waitingEvents = (admitted: readonly Admission[], now: number): StoredEvent[] =>
  admitted.map(({ id, type, data }) => ({
    id,
    type,
    data,
    seq: null,
    created_at: iso(now),
    processed_at: null,
  }))

/**
 * The log entry of an event. Its `session_thread_id` is the thread's id for a child thread, whatever id the client
 * sent.
 */
export function toThreadEntry(event: NewEvent, thread: string | undefined) {
  const { session_thread_id: _, ...named } = { session_thread_id: undefined, ...event }
  const own = thread === undefined ? named : { ...named, session_thread_id: thread }
  const whole = own as NewEvent
  return { event: whole, data: fieldsText(whole), ...(thread !== undefined && { thread }) }
}

/** Admits an interrupt to the inbox of each thread and marks the threads as due. */
export async function admitInterrupts(
  { tx, tenant, sessionId, now }: PostTarget,
  interrupts: SortedEvents['interrupts'],
): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (const { event, thread } of interrupts) {
    const waits = [toAdmission({ ...event, session_thread_id: thread })]
    await admitEvents(tx, tenant, sessionId, waits, { now, due: true, thread })
    await makeDue(tx, { tenant, session: sessionId }, [thread])
    all.push(...waitingEvents(waits, now))
  }
  return all
}

/**
 * An interrupt has no effect, and is not stored, in an idle thread with an empty inbox and without a wakeup.
 * [threads/interrupts]
 */
export async function sortInterrupt(
  target: PostTarget,
  { waits, stands, interrupts }: SortedEvents,
  event: EventOf<'user.interrupt'>,
): Promise<void> {
  const { tx, tenant, sessionId, head } = target
  const asleep = await wakeupStore(tx).threads(tenant, sessionId)
  const own = primaryThreadId(sessionId)
  const named = event.session_thread_id ?? undefined
  const isNamed = (id: string) => named === undefined || named === id
  if (isNamed(own) && (waits.length > 0 || asleep.has(own) || (await isBusy(target))))
    waits.push(event)
  for (const thread of head.team?.others ?? []) {
    if (!isNamed(thread.id) || !(isThreadBusy(thread) || asleep.has(thread.id))) continue
    // Each thread gets an interrupt of its own. The first one has the id of the posted event.
    const isFirst = interrupts.length === 0 && !waits.includes(event)
    const id = isFirst ? event.id : newId('event')
    interrupts.push({ event: { ...event, id }, thread: thread.id })
    if (!isFirst) stands.set(event.id, event.id)
  }
}

/** Throws when no open thread has this id. Not checked for answers: the id of the call decides. */
export function checkThread(
  { sessionId, head }: PostTarget,
  thread: string | null | undefined,
  at: string,
): void {
  const known = [primaryThreadId(sessionId), ...(head.team?.others ?? []).map(({ id }) => id)]
  if (!known.includes(thread ?? primaryThreadId(sessionId)))
    throw invalid(`${at}.session_thread_id: ${thread} is no thread of this session, or is archived`)
}

const isThreadBusy = ({ due, status, stop_reason }: ThreadState): boolean =>
  due === 1 || isWorking(status) || stop_reason?.includes('"requires_action"') === true

async function isBusy({ tx, tenant, sessionId, head }: PostTarget): Promise<boolean> {
  if (head.due === 1 || (head.status !== 'idle' && head.status !== 'pending')) return true
  return (await listOpenCalls(tx, { tenant, session: sessionId })).length > 0
}
