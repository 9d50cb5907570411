/**
 * Reads a session at one moment, by one statement without a lock. `appendIfUnchanged` writes only if the session did
 * not change since.
 */
import { sql } from 'kysely'
import type { Reads } from '../../ground/database/database.ts'
import { hasEndpoint } from '../../tenants/webhooks/outbox.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { selectStatement } from '../../ground/database/statement.ts'
import type { Head } from './head.ts'
import { headFields } from './head.ts'
import type { InboxItem } from './inbox.ts'
import { toPromotedMessage } from './inbox.ts'
import type { PromotedMessage } from './log.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/**
 * Largest number of waiting messages in a snapshot, and of characters of one. Beyond these the caller locks the head
 * and reads.
 */
const most = { messages: 32, characters: 16 * 1024 }

export type Snapshot = {
  head: Head
  /**
   * In the order of admission; `message`: the form that is appended. Undefined when the messages exceed the limits of a
   * snapshot.
   */
  queue: (InboxItem & { message: PromotedMessage; steers: boolean })[] | undefined
  hasOpenCalls: boolean
  hasEndpoint: boolean
}

const snapshotStatement = selectStatement((db, slot: SlotFor<SessionRef>) => {
  const tenant = slot(({ tenant }) => tenant)
  const head = headFields.map((name) => `session_heads.${name}` as const)
  return (
    db
      .selectFrom('session_heads')
      // Joins by the session alone; the query checks the tenant below. See `insertInbox`.
      .leftJoin('inbox', (join) =>
        join
          .onRef('inbox.session_id', '=', 'session_heads.session_id')
          .on('inbox.thread_id', 'is', null),
      )
      .select(head)
      .select([
        'inbox.position',
        'inbox.id',
        'inbox.type',
        'inbox.bytes_before',
        'inbox.steers',
        'inbox.created_at',
      ])
      .select([
        sql<
          string | null
        >`case when length(inbox.event) <= ${sql.lit(most.characters)} then inbox.event end`.as(
          'event',
        ),
        sql<boolean | number>`exists (
        select 1 from calls where calls.session_id = session_heads.session_id and state <> 'done')`.as(
          'has_open_calls',
        ),
        hasEndpoint(tenant).as('has_endpoint'),
      ])
      .where('session_heads.tenant_id', '=', tenant)
      .where(
        'session_heads.session_id',
        '=',
        slot(({ session: sessionId }) => sessionId),
      )
      .orderBy('inbox.position')
      .limit(sql.lit(most.messages + 1))
  )
})

/** Undefined when the session does not exist. */
export async function readSnapshot(
  db: Reads,
  tenant: string,
  sessionId: string,
): Promise<Snapshot | undefined> {
  const rows = await snapshotStatement(db, { tenant, session: sessionId })
  const [head] = rows
  if (!head) return undefined
  const queue = rows.flatMap(({ position, id, type, bytes_before, steers, created_at, event }) => {
    if (position === null || id === null || type === null) return []
    const waits = { position, id, type, bytes_before: bytes_before ?? 0, steers: steers === 'yes' }
    if (event === null || created_at === null) return 'long' as const
    return { ...waits, message: toPromotedMessage({ id, type, created_at, event }) }
  })
  const isWhole = queue.length <= most.messages && !queue.includes('long')
  return {
    head,
    queue: isWhole ? queue.filter((each) => each !== 'long') : undefined,
    hasOpenCalls: Boolean(head.has_open_calls),
    hasEndpoint: Boolean(head.has_endpoint),
  }
}
