/** What was accepted and has not begun: admit, promote, cancel. */
import type { EventOf, NewEvent } from '@steward/protocol/events.ts'
import type { Queries } from '../database/database.ts'
import { iso } from '../core/time.ts'

/** Kinds that wait for a runner; everything else a client posts is processed on receipt. */
export type Waiting =
  | EventOf<'user.message'>
  | EventOf<'system.message'>
  | EventOf<'user.interrupt'>

export type Admitted = { position: number; created_at: string; event: Waiting }

/** Puts the events behind those that wait already; `due` when a runner has something to do with them. */
export async function admit(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly Waiting[],
  { now, due }: { now: number; due: boolean },
): Promise<void> {
  const head = await tx
    .updateTable('session_heads')
    .set((eb) => ({
      next_position: eb('next_position', '+', events.length),
      ...(due ? { due: 1 } : {}),
    }))
    .where('session_id', '=', sessionId)
    .where('tenant_id', '=', tenant)
    .returning('next_position')
    .executeTakeFirstOrThrow()
  const first = head.next_position - events.length + 1
  const created_at = iso(now)
  const rows = events.map((event, index) => ({
    tenant_id: tenant,
    session_id: sessionId,
    position: first + index,
    id: event.id,
    type: event.type,
    event: JSON.stringify(event),
    created_at,
  }))
  await tx.insertInto('inbox').values(rows).execute()
}

/** All that waits, in the order it was accepted. */
export async function waiting(db: Queries, tenant: string, sessionId: string): Promise<Admitted[]> {
  const rows = await db
    .selectFrom('inbox')
    .select(['position', 'created_at', 'event'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .orderBy('position')
    .execute()
  return rows.map(({ position, created_at, event }) => ({
    position,
    created_at,
    event: JSON.parse(event) as Waiting,
  }))
}

/** The place of the newest interrupt that waits. */
export async function lastInterrupt(
  db: Queries,
  tenant: string,
  sessionId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('inbox')
    .select('position')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('type', '=', 'user.interrupt')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.position
}

/** Whether anything waits behind a place. */
export async function waitsBehind(
  db: Queries,
  tenant: string,
  sessionId: string,
  position: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('inbox')
    .select('position')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('position', '>', position)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes out what was read up to a position; the same transaction puts it into the log, or its cancellation. */
export async function take(
  tx: Queries,
  tenant: string,
  sessionId: string,
  upTo: number,
): Promise<void> {
  await tx
    .deleteFrom('inbox')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('position', '<=', upTo)
    .execute()
}

/** What the log keeps of a message that will never be processed. */
export const cancelled = (message: Admitted, id: string, reason: string): NewEvent => ({
  id,
  type: 'system.user_message_cancelled',
  message_id: message.event.id,
  reason,
})

/** Those of the sessions that have an interrupt waiting. */
export async function interruptsFor(db: Queries, sessionIds: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('inbox')
    .select('session_id')
    .distinct()
    .where('session_id', 'in', sessionIds)
    .where('type', '=', 'user.interrupt')
    .execute()
  return rows.map((row) => row.session_id)
}
