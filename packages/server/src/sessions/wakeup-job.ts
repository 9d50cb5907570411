/**
 * Wakes threads at their time: admits the wakeup to their inbox like a message. Every process looks; the transaction
 * decides.
 */
import { createAlarm } from '../ground/core/time/alarm.ts'
import { newId, primaryThreadId } from '../ground/core/text/ids.ts'
import type { Job } from '../ground/core/time/jobs.ts'
import type { Database, Queries } from '../ground/database/database.ts'
import { runOnEach } from '../ground/database/database.ts'
import { auditActing } from '../tenants/audit/acting.ts'
import { getHeadForUpdate, stateOf } from './log/head.ts'
import { toAdmission, admitEvents } from './log/inbox.ts'
import { makeDue } from './log/threads/due.ts'
import { findSendRefusal } from './log/threads/messages.ts'
import { readThreadHead } from './log/threads/team.ts'
import { listenForWakeups, notifyRunners } from './log/topics.ts'
import { sessionStore } from './rows/sessions.ts'
import type { WakeupRow } from './rows/wakeups.ts'
import { wakeupStore } from './rows/wakeups.ts'
import { enqueueSession } from './work/queue.ts'
import type { SessionRef } from '../ground/core/refs.ts'
import type { Ground } from '../ground/ground.ts'

/** A look reads the wakeups that are due before the next look, and starts the next look early for them. */
const everyMs = 30_000
const limit = 100
/** Delay of a child's wakeup while its parent's inbox is full. */
const laterMs = 60_000

export function wakeupJob(deps: Ground): Job {
  const { databases, bus, clock } = deps
  const alarm = createAlarm(clock)

  async function wakeDue(database: Database, due: readonly WakeupRow[]): Promise<void> {
    for (const row of due) {
      await database.write((tx) => wake(tx, row, clock.now()))
    }
  }

  async function run(signal: AbortSignal): Promise<boolean> {
    let nearest = Infinity
    async function wakeIn(database: Database): Promise<boolean> {
      const now = clock.now()
      const coming = await wakeupStore(database.read).before(now + everyMs, limit)
      const due = coming.filter((row) => row.due_ms <= now)
      nearest = Math.min(nearest, coming[due.length]?.due_ms ?? Infinity)
      await wakeDue(database, due)
      return due.length < limit
    }
    try {
      return await runOnEach(databases.due(everyMs), wakeIn)
    } finally {
      if (nearest < Infinity) alarm.at(nearest, signal)
    }
  }

  return {
    name: 'wake sessions',
    everyMs,
    run,
    start(now) {
      const stop = alarm.start(now)
      const unsubscribe = listenForWakeups(bus, now)
      return () => {
        unsubscribe()
        stop()
      }
    },
  }
}

/**
 * Each turn of a child ends with a message to its parent. A child that wakes itself must not fill the inbox of a parent
 * that cannot read.
 */
const isParentFull = async (tx: Queries, ref: SessionRef) => {
  const parent = {
    id: primaryThreadId(ref.session),
    kind: 'primary',
    name: 'the parent',
  } as const
  return (await findSendRefusal(tx, ref, parent, '')) !== undefined
}

/** Does nothing when the thread was woken, or its wakeup cancelled or postponed, meanwhile. */
async function wake(
  tx: Queries,
  { tenant_id: tenant, session_id: session, thread_id, event_id, note }: WakeupRow,
  now: number,
): Promise<void> {
  const whole = await getHeadForUpdate(tx, tenant, session)
  const store = wakeupStore(tx)
  const gone = await store.removeOne(tenant, session, thread_id, event_id)
  if (!gone) return
  const thread = thread_id === primaryThreadId(session) ? undefined : thread_id
  if (thread !== undefined && (await isParentFull(tx, { tenant, session }))) {
    await store.insert({ ...gone, due_ms: now + laterMs })
    return
  }
  const head = await readThreadHead(tx, { tenant, session, thread }, whole)
  if (!head) return
  const type = 'system.wakeup'
  const ofThread = thread === undefined ? {} : { session_thread_id: thread }
  const event = {
    id: newId('event'),
    type,
    wakeup_scheduled_id: event_id,
    note,
    ...ofThread,
  } as const
  const thing = { type: 'session', id: session, name: null } as const
  await auditActing(tx, tenant, { thing, action: 'session.wakeup', session }, now)
  const due = stateOf(head) !== 'requires_action'
  await admitEvents(tx, tenant, session, [toAdmission(event)], { now, due, thread })
  if (due && head.team) await makeDue(tx, { tenant, session }, [thread_id])
  notifyRunners(tx, { tenant, session })
  await enqueueSession(tx, await sessionStore(tx).row(tenant, session), now)
}
