/** The wakeups of threads: when a thread is woken. */
import type { WakeupEnd } from '@steward/protocol/wakeups.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { LogEntry } from '../log/log.ts'
import { threadIdOf } from '../log/threads/team.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

export type WakeupRow = Tables['wakeups']

function wakeupReads(db: Reads) {
  return {
    /** Ids of the session's threads that have a wakeup. */
    async threads(tenant: string, session: string): Promise<Set<string>> {
      const rows = await db
        .selectFrom('wakeups')
        .select('thread_id')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
      return new Set(rows.map(({ thread_id }) => thread_id))
    },

    /** The time of the session's next wakeup; null without one. */
    async nextOf(tenant: string, session: string): Promise<number | null> {
      const { next } = await db
        .selectFrom('wakeups')
        .select((eb) => eb.fn.min('due_ms').as('next'))
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .executeTakeFirstOrThrow()
      return next === null ? null : Number(next)
    },

    /** Due wakeups of all tenants, the earliest first. */
    before: (time: number, limit: number): Promise<WakeupRow[]> =>
      db
        .selectFrom('wakeups')
        .selectAll()
        .where('due_ms', '<=', time)
        .orderBy('due_ms')
        .limit(limit)
        .execute(),
  }
}

function wakeupWrites(db: Queries) {
  return {
    insert: (row: WakeupRow) => db.insertInto('wakeups').values(row).execute(),

    /** Removes and returns the wakeup of a thread. With `event`, only the wakeup that this event scheduled. */
    async removeOne(
      tenant: string,
      session: string,
      thread: string,
      event?: string,
    ): Promise<WakeupRow | undefined> {
      const rows = db
        .deleteFrom('wakeups')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('thread_id', '=', thread)
      const one = event === undefined ? rows : rows.where('event_id', '=', event)
      return one.returningAll().executeTakeFirst()
    },

    async remove(tenant: string, session: string): Promise<void> {
      await db
        .deleteFrom('wakeups')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

export const wakeupStore = defineStore(wakeupReads, wakeupWrites)

/** Removes the wakeup of a thread. Returns the event about it for the thread's log. */
export async function cancelWakeup(
  tx: Queries,
  { tenant, session, thread }: ThreadRef,
  reason: WakeupEnd,
): Promise<LogEntry[]> {
  const gone = await wakeupStore(tx).removeOne(tenant, session, threadIdOf({ session, thread }))
  if (!gone) return []
  const type = 'system.wakeup_cancelled' as const
  const event = { id: newId('event'), type, wakeup_scheduled_id: gone.event_id, reason }
  return [
    thread === undefined ? { event } : { event: { ...event, session_thread_id: thread }, thread },
  ]
}
