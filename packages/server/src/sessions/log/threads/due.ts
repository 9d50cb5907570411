/** The threads of a session that have work for a runner. */
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { statement } from '../../../ground/database/statement.ts'
import { requiresAction } from '../head.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { threadColumns } from '../thread-columns.ts'

/** The due threads; undefined stands for the primary thread, which is returned alone when no thread is due. */
export async function dueThreads(
  db: Reads,
  { tenant, session }: SessionRef,
): Promise<(string | undefined)[]> {
  const rows = await db
    .selectFrom('threads')
    .select(['id', 'kind'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('due', '=', 1)
    .orderBy('id')
    .execute()
  if (rows.length === 0) return [undefined]
  return rows.map(({ id, kind }) => (kind === 'primary' ? undefined : id))
}

/** Threads that can continue with a higher budget: their turn stopped at the old budget, or messages wait for them. */
export async function pausedThreads(db: Reads, { tenant, session }: SessionRef): Promise<string[]> {
  const waiting = db
    .selectFrom('inbox')
    .select((eb) =>
      eb.fn
        .coalesce('thread_id', eb.val(primaryThreadId(session)))
        .$castTo<string>()
        .as('thread'),
    )
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
  const rows = await db
    .selectFrom('threads')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('archived_at', 'is', null)
    .where((eb) =>
      eb.or([eb('halted', '=', 1), eb('id', 'in', waiting).and(eb.not(requiresAction))]),
    )
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

const dueStatement = statement(
  (tx, slot: SlotFor<SessionRef & { id: string }>) =>
    tx
      .updateTable('threads')
      .set({ due: 1 })
      .where((eb) => eb.and(threadColumns(slot))),
  { isResultless: true },
)

/** Marks the threads as due: a runner has work with them. */
export async function makeDue(
  tx: Queries,
  { tenant, session }: SessionRef,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await dueStatement(tx, { tenant, session, id })
}
