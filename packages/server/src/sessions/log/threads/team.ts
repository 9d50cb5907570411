/** The threads of a session with several threads, and the head of one of them. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { selectStatement } from '../../../ground/database/statement.ts'
import { newId, primaryThreadId } from '../../../ground/core/text/ids.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Head, Team, ThreadState } from '../head.ts'
import { isSessionOver, getHeadForUpdate, readHead, standingFields } from '../head.ts'
import type { LogEntry } from '../log.ts'
import { outcomeStage } from '../outcome-stage.ts'
import type { SessionRef, ThreadRef } from '../../../ground/core/refs.ts'
import { sessionColumns } from '../thread-columns.ts'

/** One thread of a session that a runner holds. */

export const threadIdOf = ({ session, thread }: Omit<ThreadRef, 'tenant'>): string =>
  thread ?? primaryThreadId(session)

const standingStatement = selectStatement((db, slot: SlotFor<SessionRef>) =>
  db
    .selectFrom('threads')
    .select(standingFields)
    .where((eb) => eb.and(sessionColumns(slot)))
    .where('archived_at', 'is', null)
    .orderBy('id'),
)

/** Threads that are not archived, in the order of their creation. */
export const readStandings = (
  db: Reads,
  tenant: string,
  sessionId: string,
): Promise<ThreadState[]> => standingStatement(db, { tenant, session: sessionId })

/**
 * The head of one thread, from the session's head, which the caller has locked or read. In a session with one thread it
 * is the session's head. Lease, budget, spending and inbox are the session's. Undefined for an archived thread.
 */
export async function readThreadHead(
  db: Reads,
  ref: ThreadRef,
  session: Head,
): Promise<Head | undefined> {
  // A deleted session has no rows of threads any more.
  if (session.threads === 0 || session.status === 'deleted') return session
  const all = await readStandings(db, ref.tenant, ref.session)
  const id = threadIdOf(ref)
  const self = all.find((each) => each.id === id)
  if (!self) return undefined
  const team = { self, session, others: all.filter((each) => each !== self) }
  const { status, stop_reason, due, halted, running_since_ms, active_ms, idle_since_ms } = self
  const standing = { stop_reason, due, halted, running_since_ms, active_ms, idle_since_ms }
  const head = {
    ...session,
    ...standing,
    status: isSessionOver(session) ? session.status : status,
    team,
  }
  if (ref.thread === undefined) return head
  const { recoveries, url_servers } = self
  const without = { outcome: outcomeStage.none, awaits_stdio: 0, stdio_ms: null }
  return { ...head, recoveries, url_servers, ...without }
}

/**
 * Locks the session's head until the transaction ends and returns the head of the thread. Undefined for an archived
 * thread.
 */
export const findThreadForUpdate = async (tx: Queries, ref: ThreadRef): Promise<Head | undefined> =>
  readThreadHead(tx, ref, await getHeadForUpdate(tx, ref.tenant, ref.session))

export const readThread = async (db: Reads, ref: ThreadRef): Promise<Head | undefined> =>
  readThreadHead(db, ref, await readHead(db, ref.tenant, ref.session))

export const isWorking = (status: Head['status']): boolean =>
  status === 'running' || status === 'rescheduling'

/** The end of an advisor's thread: an advisor answers one question, so the end of its turn ends its thread. */
export const advisorEndEntries = ({ id, name, kind }: ThreadState): LogEntry[] => {
  const type = 'session.thread_status_terminated' as const
  const ended = { id: newId('event'), type, session_thread_id: id, agent_name: name }
  return kind === 'advisor' ? [{ event: ended }] : []
}

export const hasOthersDue = ({ others }: Team): boolean => others.some(({ due }) => due === 1)

const stopOf = ({ status, stop_reason }: ThreadState): StopReason | undefined =>
  status === 'idle' && stop_reason !== null ? fromJson(stop_reason) : undefined

/** The stop reason of the session when `self` is the last of its threads to go idle. */
export function combinedStop({ self, others }: Team, own: StopReason): StopReason {
  const stops = others.flatMap((each) => stopOf(each) ?? [])
  const asked = [own, ...stops].flatMap((stop) =>
    stop.type === 'requires_action' ? stop.event_ids : [],
  )
  if (asked.length > 0) return { type: 'requires_action', event_ids: asked }
  if (self.kind === 'primary') return own
  const primary = others.find(({ kind }) => kind === 'primary')
  return (primary && stopOf(primary)) ?? { type: 'end_turn' }
}
