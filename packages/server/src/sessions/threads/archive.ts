/** Archives a thread: it takes no more messages, and its place is free. [threads/archive] */
import { iso } from '@steward/base/time.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { newId, threadOf } from '../../ground/core/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import { append } from '../log/append.ts'
import { openCallsOf } from '../log/calls.ts'
import { lockHead } from '../log/head.ts'
import { nameOf } from '../log/idle.ts'
import { closing } from '../log/closing.ts'
import { drop } from '../log/inbox-end.ts'
import { rowOf, threadStore } from '../log/threads/store.ts'
import { isWorking } from '../log/threads/team.ts'

/** Calls that wait are closed. Throws for the primary thread, and for a thread that works. A repeated call changes nothing, and so does one behind the session's end. */
export async function archiveThread(
  tx: Queries,
  { tenant, session, thread }: { tenant: string; session: string; thread: string },
  now: number,
): Promise<void> {
  if (thread === threadOf(session))
    throw invalid('the primary thread cannot be archived; archive the session')
  const head = await lockHead(tx, tenant, session)
  const store = threadStore(tx)
  const row = await store.find(tenant, session, thread)
  if (!row) throw notFound('thread', thread)
  // What ends a session is the last event of its log.
  if (row.archived_at !== null || head.status === 'done') return
  if (row.due === 1 || isWorking(row.status))
    throw invalid(`thread ${thread} is running: interrupt it and wait until it is idle`)
  const why = 'the thread was archived before this call had a result'
  const open = await openCallsOf(tx, { tenant, sessionId: session, thread })
  const entries = open.map((call) => ({ event: closing(call, why), thread }))
  await drop(tx, tenant, session, Number.MAX_SAFE_INTEGER, thread)
  const type = 'session.thread_status_terminated'
  const ended = { event: { id: newId('event'), type, ...nameOf(row) }, thread } as const
  await append(tx, tenant, session, [...entries, ended], { now })
  const at = iso(now)
  const set = { status: 'done', archived_at: at, updated_at: at } as const
  await store.update(rowOf({ tenant, session, thread }), set)
}
