/** Interrupts in the inbox, and the cancellation of waiting messages. */
import type { EventOf } from '@steward/protocol/events.ts'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statementByForm, selectStatement } from '../../ground/database/statement.ts'
import type { ThreadForm } from './inbox.ts'
import { isOfThreadForm, takeWaiting, threadFormOf } from './inbox.ts'
import type { PromotedMessage } from './log.ts'
import { disownTexts } from './long-texts.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'
import { sessionColumns } from './thread-columns.ts'

const interruptStatement = statementByForm((whose: ThreadForm) =>
  selectStatement((db, slot: SlotFor<ThreadRef>) =>
    db
      .selectFrom('inbox')
      .select('position')
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isOfThreadForm(whose, slot))
      .where('type', '=', sql.lit('user.interrupt'))
      .orderBy('position', 'desc')
      .limit(1),
  ),
)

/** The position of the newest waiting interrupt. */
export async function lastInterrupt(
  db: Reads,
  tenant: string,
  sessionId: string,
  thread?: string,
): Promise<number | undefined> {
  const ref = { tenant, session: sessionId, thread }
  const [row] = await interruptStatement(threadFormOf(ref))(db, ref)
  return row?.position
}

/**
 * Like `takeWaiting`, for messages that are cancelled. The caller appends the cancellations in the same transaction.
 */
export async function dropWaiting(
  tx: Queries,
  tenant: string,
  sessionId: string,
  upTo: number,
  thread?: string,
): Promise<PromotedMessage[]> {
  const dropped = await takeWaiting(tx, tenant, sessionId, upTo, thread)
  const long = dropped.flatMap(({ id, data }) => (data === '' ? id : []))
  await disownTexts(tx, { tenant, session: sessionId }, long)
  return dropped
}

/** The event for a message that will never be processed. */
export const buildCancellation = (
  message: { id: string },
  id: string,
  reason: string,
): EventOf<'system.user_message_cancelled'> => ({
  id,
  type: 'system.user_message_cancelled',
  message_id: message.id,
  reason,
})

/** The threads in these sessions that have an interrupt waiting. */
export async function interruptsFor(
  db: Reads,
  sessionIds: string[],
): Promise<{ session: string; thread: string | undefined }[]> {
  const rows = await db
    .selectFrom('inbox')
    .select(['session_id', 'thread_id'])
    .distinct()
    .where('session_id', 'in', sessionIds)
    .where('type', '=', 'user.interrupt')
    .execute()
  return rows.map((row) => ({ session: row.session_id, thread: row.thread_id ?? undefined }))
}
