/** Archives a thread: it takes no more messages and no longer counts as open. [threads/archive] */
import { iso } from '@steward/base/time.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { newId, primaryThreadId } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import { appendEntries } from '../log/append.ts'
import { listOpenCalls } from '../log/calls.ts'
import { isSessionOver, getHeadForUpdate } from '../log/head.ts'
import { threadNameFields, sessionIdle } from '../log/idle.ts'
import { closingResult } from '../log/closing.ts'
import { dropWaiting } from '../log/inbox-end.ts'
import type { LogEntry } from '../log/log.ts'
import { cancelWakeup } from '../rows/wakeups.ts'
import type { ThreadRow } from '../log/threads/store.ts'
import { threadStore } from '../log/threads/store.ts'
import { isWorking, readStandings, combinedStop } from '../log/threads/team.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/**
 * Archives a thread and closes its open calls. Throws for the primary thread and for a running thread. Does nothing for
 * an archived thread, and after the session's end.
 */
export async function archiveThread(
  tx: Queries,
  { tenant, session, thread }: { tenant: string; session: string; thread: string },
  now: number,
): Promise<void> {
  if (thread === primaryThreadId(session))
    throw invalid('the primary thread cannot be archived; archive the session')
  const head = await getHeadForUpdate(tx, tenant, session)
  const row = await threadStore(tx).find(tenant, session, thread)
  if (!row) throw notFound('thread', thread)
  // The event that ends a session stays the last one of its log.
  if (row.archived_at !== null || isSessionOver(head)) return
  if (row.due === 1 || isWorking(row.status))
    throw invalid(`thread ${thread} is running: interrupt it and wait until it is idle`)
  const why = 'the thread was archived before this call had a result'
  const entries = await endThread(tx, row, { why, now })
  // The idle event of the session must no longer name calls of the archived thread.
  const isAwaited = entries.length > 1 && head.status === 'idle'
  const others = await readStandings(tx, tenant, session)
  const stop = combinedStop({ self: row, others, session: head }, { type: 'end_turn' })
  const again = isAwaited ? sessionIdle(head, stop, now) : []
  await appendEntries(tx, tenant, session, [...entries, ...again], { now })
}

/**
 * Ends the threads of a session that ends. Removes their inboxes and returns the events about them for the session's
 * log.
 */
export async function endThreads(
  tx: Queries,
  { tenant, session }: SessionRef,
  now: number,
): Promise<LogEntry[]> {
  const why = 'the session was archived before this call had a result'
  const entries: LogEntry[] = []
  for (const row of await threadStore(tx).all(tenant, session))
    if (row.kind !== 'primary' && row.archived_at === null)
      entries.push(...(await endThread(tx, row, { why, now })))
  return entries
}

/** Returns an error result for each call that waits, and the event that ends the thread. */
async function endThread(
  tx: Queries,
  row: ThreadRow,
  { why, now }: { why: string; now: number },
): Promise<LogEntry[]> {
  const { tenant_id: tenant, session_id: session, id: thread } = row
  const open = await listOpenCalls(tx, { tenant, session, thread })
  const closed = open.map((call) => ({ event: closingResult(call, why), thread }))
  await dropWaiting(tx, tenant, session, Number.MAX_SAFE_INTEGER, thread)
  const asleep = await cancelWakeup(tx, { tenant, session, thread }, 'archive')
  const type = 'session.thread_status_terminated'
  const ended = { event: { id: newId('event'), type, ...threadNameFields(row) }, thread } as const
  const at = iso(now)
  const set = { status: 'done', archived_at: at, updated_at: at, due: 0 } as const
  await threadStore(tx).update(row, set)
  return [...closed, ...asleep, ended]
}
