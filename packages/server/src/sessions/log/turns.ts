/** How many turns a session has begun, and how much of its context the newest model request has used. */
import type { Reads } from '../../ground/database/database.ts'
import { turnBegin } from './head.ts'
import { eventOf } from './log.ts'

const eventsOf = (db: Reads, tenant: string, session: string) =>
  db.selectFrom('events').where('tenant_id', '=', tenant).where('session_id', '=', session)

/** Reads the whole log. */
export async function turnsInLog(db: Reads, tenant: string, session: string): Promise<number> {
  const { count } = await eventsOf(db, tenant, session)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('type', '=', turnBegin)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Counted with each turn; the log of a session of an earlier version is read. */
export async function countTurns(db: Reads, tenant: string, session: string): Promise<number> {
  const head = await db
    .selectFrom('session_heads')
    .select('turns')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .executeTakeFirst()
  return Number(head?.turns ?? (await turnsInLog(db, tenant, session)))
}

/**
 * Tokens that the newest answered model request of the primary thread read, from caches too. Null without a request,
 * and where its provider reported none.
 */
export async function contextTokens(
  db: Reads,
  tenant: string,
  session: string,
): Promise<number | null> {
  const row = await eventsOf(db, tenant, session)
    .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'data'])
    .where('thread_id', 'is', null)
    .where('type', '=', 'span.model_request_end')
    .where('data', 'like', '%"is_error":false%')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const event = row && eventOf(row)
  if (event?.type !== 'span.model_request_end') return null
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = event.model_usage
  return input_tokens + cache_read_input_tokens + cache_creation_input_tokens || null
}
