/** The rows of external threads, as deliveries change them. */
import { newId } from '../../../ground/core/text/ids.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { releasedLease } from '../../../ground/database/lease.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { HeardDelivery } from './allowed.ts'
import type { Notes } from '../integration.ts'
import type { DeliveryRow, ExternalThreadRow } from '../store.ts'
import { notifyIntegrations } from '../topics.ts'
import type { DeliveryTurn } from './turns.ts'
import { howUsedUp, toldOf, wakesAfter } from './wake-counts.ts'

const newThread = (
  {
    tenant_id,
    publication_id,
    scope,
  }: Pick<ExternalThreadRow, 'tenant_id' | 'publication_id' | 'scope'>,
  now: number,
): ExternalThreadRow => ({
  tenant_id,
  id: newId('integration_thread'),
  publication_id,
  scope,
  session_id: null,
  target: {},
  turn_target: null,
  notes: {},
  first: null,
  told_seq: 0,
  told_parts: 0,
  begun: null,
  wakes: null,
  reads_only: null,
  token_due_ms: null,
  due_ms: now,
  ...releasedLease,
})

/**
 * A due time that differs from the time before, so that a process which is telling the thread notices the change. A
 * receiver that asked for a wait still gets its wait.
 */
function wokenAt({ begun, due_ms }: ExternalThreadRow, now: number): number {
  if (begun !== null && due_ms !== null && due_ms > now) return due_ms + 1
  return due_ms === now ? now - 1 : now
}

/** A turn begins in the session without a delivery: its thread, if it has one, is told. Call it with the session locked. */
export async function wakeThreadOf(
  tx: Queries,
  { tenant, session }: SessionRef,
  now: number,
): Promise<void> {
  const row = await rows(tx, 'integration_threads').findForUpdate(tenant, (query) =>
    query.where('session_id', '=', session),
  )
  if (!row) return
  await rows(tx, 'integration_threads').update(row, { due_ms: wokenAt(row, now) })
  notifyIntegrations(tx)
}

/** The parts of a turn that a thread is saved by. */
type ThreadTurn = {
  thread: ExternalThreadRow | undefined
  delivery: Pick<ExternalThreadRow, 'tenant_id' | 'publication_id'>
}

export async function saveThread(
  tx: Queries,
  { thread, delivery }: ThreadTurn,
  { scope }: { scope: string },
  { now, ...columns }: Partial<ExternalThreadRow> & { now: number },
): Promise<void> {
  const kept =
    thread ?? (await rows(tx, 'integration_threads').insert(newThread({ ...delivery, scope }, now)))
  await rows(tx, 'integration_threads').update(kept, { ...columns, due_ms: wokenAt(kept, now) })
}

/**
 * `token_due_ms`: the time from which the repository of a new session needs a new token. `reads_only`: of a new session.
 */
export type SessionColumns = { session_id: string; token_due_ms?: number | null } & Partial<
  Pick<ExternalThreadRow, 'reads_only'>
>

/** Notes of a message that says that the agent works: a later session of the thread ends it. */
const openNotes = ({ comment, comment_in, comment_at, comment_url, stream }: Notes): Notes => ({
  ...(comment !== undefined && { comment }),
  ...(comment_at !== undefined && { comment_at }),
  ...(comment_url !== undefined && { comment_url }),
  ...(comment_in !== undefined && { comment_in }),
  ...(stream !== undefined && { stream }),
})

/** Stores the thread. With a new session the thread starts again from the beginning of the session's log. */
export function keepThread(
  tx: Queries,
  turn: DeliveryTurn,
  received: HeardDelivery,
  { session_id, token_due_ms = null, reads_only = null, now }: SessionColumns & { now: number },
): Promise<void> {
  const { thread } = turn
  const isSame = thread?.session_id === session_id
  // A thread without a session may be telling that its first message has come.
  const isFirst = thread?.session_id === null
  const begun = isFirst ? {} : { notes: openNotes(thread?.notes ?? {}), begun: null }
  const anew = isSame
    ? {}
    : {
        session_id,
        told_seq: 0,
        told_parts: 0,
        turn_target: null,
        token_due_ms,
        reads_only,
        ...begun,
      }
  const told = received.kind === 'message' ? { target: received.target } : {}
  const wakes = wakesAfter(thread?.wakes ?? null, received)
  return saveThread(tx, turn, received, { ...anew, ...told, wakes, now })
}

/** Tells people once that the agent waits for them, where it was woken too often. */
export async function tellUsedUp(
  tx: Queries,
  { thread, delivery }: DeliveryTurn,
  received: HeardDelivery,
  now: number,
): Promise<void> {
  if (received.kind !== 'message' || !received.wake) return
  const wakes = toldOf(thread?.wakes ?? null, received.wake)
  // What is to be told first goes before: the next time tells this.
  if (!thread || !wakes || (thread.first && thread.first.kind !== 'accepted')) return
  const { target } = received
  const many = howUsedUp(thread.wakes, received.wake)
  const message = `The agent was woken ${many ?? 'too often'}, and nobody has written since. It waits for a word: mention it to go on.`
  const first = { kind: 'notice', id: delivery.id, message, target } as const
  await saveThread(tx, { thread, delivery }, received, { first, wakes, now })
  notifyIntegrations(tx)
}

/** Tells the people of the thread that a message has come, before anything else is done about it. */
export async function acknowledge(
  tx: Queries,
  { thread, delivery }: DeliveryTurn,
  received: Extract<HeardDelivery, { kind: 'message' }>,
  now: number,
): Promise<DeliveryRow> {
  const { target } = received
  const accepted = { kind: 'accepted', id: delivery.id, target } as const
  const first = thread?.first && thread.first.kind !== 'accepted' ? thread.first : accepted
  await saveThread(tx, { thread, delivery }, received, { first, now, ...(!thread && { target }) })
  notifyIntegrations(tx)
  const kept = { ...withoutChecks(received), isAcknowledged: true } as const
  return rows(tx, 'integration_deliveries').update(delivery, { received: kept })
}

/** The stored form of a delivery whose author was found to be allowed. */
function withoutChecks({
  check: _check,
  learned: _learned,
  ...received
}: Extract<HeardDelivery, { kind: 'message' }>) {
  return received
}
