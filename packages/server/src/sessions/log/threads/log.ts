/** Reads of the log by thread. */
import type { Reads } from '../../../ground/database/database.ts'
import type { EventRow } from '../log.ts'
import { isOfThread } from '../thread-columns.ts'
import type { ThreadRef } from '../../../ground/core/refs.ts'

/** The newest message of the agent, unless the thread went idle or received a message since. */
export async function lastSaying(
  db: Reads,
  { tenant, session, thread }: ThreadRef,
): Promise<EventRow | undefined> {
  const row = await db
    .selectFrom('events')
    .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'data'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where(isOfThread(thread))
    .where('type', 'in', [
      'agent.message',
      'agent.thread_message_received',
      'session.thread_status_idle',
    ])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.type === 'agent.message' ? row : undefined
}
