/**
 * Schedules the time at which a thread is woken, in the commit that stores the result of the call.
 * [tools/schedule-wakeup]
 */
import type { WakeupEffect } from '@steward/harness/wakeups.ts'
import { iso } from '@steward/base/time.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { threadIdOf } from '../../sessions/log/threads/team.ts'
import { notifyWakeups } from '../../sessions/log/topics.ts'
import { cancelWakeup, wakeupStore } from '../../sessions/rows/wakeups.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

export async function scheduleWakeup(
  tx: Queries,
  ref: ThreadRef,
  { at, note }: WakeupEffect,
): Promise<LogEntry[]> {
  const { tenant, session } = ref
  const thread = threadIdOf(ref)
  const replaced = await cancelWakeup(tx, ref, 'replaced')
  const event_id = newId('event')
  const of = { tenant_id: tenant, session_id: session, thread_id: thread }
  await wakeupStore(tx).insert({ ...of, due_ms: at, event_id, note })
  notifyWakeups(tx)
  const type = 'span.wakeup_scheduled'
  return [...replaced, { event: { id: event_id, type, wakeup_at: iso(at), note } }]
}
