/** Where a session's history begins: found at once, however long its log is. */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('events_boundaries')
    .on('events')
    .columns(['session_id', 'seq'])
    .where(sql.ref('type'), '=', sql.lit('agent.thread_context_compacted'))
    .execute()
}
