/** What a client posts, admitted or processed on receipt, in one transaction. contract.md 2.3 */
import type { ClientEvent, EventOf, NewEvent } from '@steward/protocol/events.ts'
import type { Bus } from '../../bus/bus.ts'
import { invalid, unsupported } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { iso } from '../../core/time.ts'
import type { Queries } from '../../database/database.ts'
import type { Call } from '../../events/calls.ts'
import { findCall, openCalls } from '../../events/calls.ts'
import { lockHead } from '../../events/head.ts'
import type { Waiting } from '../../events/inbox.ts'
import { admit } from '../../events/inbox.ts'
import type { WireEvent } from '../../events/log.ts'
import { append, showEvent } from '../../events/log.ts'
import { ring, say, wake } from '../../events/topics.ts'
import { sessionStore } from '../store.ts'
import { checkContent } from '../supported.ts'

export type Posted = {
  /** Each event of the request as it now stands, in order. */
  echoes: WireEvent[]
  /** Those of them that wait for a runner. */
  queued: WireEvent[]
  /** Whether the log has grown, a runner has something to do, a run shall stop. */
  appended: boolean
  due: boolean
  interrupt: boolean
}

export async function postEvents(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly ClientEvent[],
  now: number,
): Promise<Posted> {
  const session = await sessionStore(tx).row(tenant, sessionId)
  if (session.archived_at) throw invalid(`session ${sessionId} is archived and takes no more events`)
  const head = await lockHead(tx, tenant, sessionId)
  const waits: Waiting[] = []
  const kept: NewEvent[] = []
  const echoes: NewEvent[] = []
  for (const [index, event] of events.entries()) {
    const fresh = { ...event, id: newId('event') }
    echoes.push(fresh)
    switch (fresh.type) {
      case 'user.message':
        checkContent(fresh.content, `events.${index}`)
        waits.push(fresh)
        break
      case 'system.message':
        if (events[index - 1]?.type === 'user.message') waits.push(fresh)
        else kept.push(fresh)
        break
      case 'user.interrupt': {
        const busy = head.status !== 'idle' && head.status !== 'pending'
        const pending = head.due === 1 || waits.length > 0
        if (busy || pending || (await openCalls(tx, tenant, sessionId)).length > 0) waits.push(fresh)
        break
      }
      case 'user.tool_confirmation':
      case 'user.custom_tool_result':
        if (await settles(tx, tenant, sessionId, fresh, kept, `events.${index}`)) kept.push(fresh)
        break
      case 'user.tool_result':
        throw unsupported(`events.${index}.type`, 'user.tool_result, which belongs to self_hosted environments, is')
    }
  }
  if (waits.length > 0) await admit(tx, tenant, sessionId, waits, now)
  const due = kept.length > 0 || waits.length > 0
  if (kept.length > 0) await append(tx, tenant, sessionId, kept.map((event) => ({ event })), { now, due: true })
  const shown = echoes.map((event) => echo(sessionId, event, waits.includes(event as Waiting), now))
  return {
    echoes: shown,
    queued: shown.filter((event) => event.type === 'user.message'),
    appended: kept.length > 0,
    due,
    interrupt: waits.some((event) => event.type === 'user.interrupt'),
  }
}

function echo(sessionId: string, event: NewEvent, waits: boolean, now: number): WireEvent {
  const { id, type, ...data } = event
  const at = iso(now)
  return showEvent(sessionId, {
    ...{ seq: null, id, type, created_at: at, processed_at: waits ? null : at },
    data: JSON.stringify(data),
  })
}

type Settling = EventOf<'user.tool_confirmation'> | EventOf<'user.custom_tool_result'>

/** Whether the event answers a call that waits for it; false when it was answered before, so that a retry is safe. */
async function settles(
  tx: Queries,
  tenant: string,
  sessionId: string,
  event: Settling,
  before: readonly NewEvent[],
  at: string,
): Promise<boolean> {
  const [field, id] =
    event.type === 'user.tool_confirmation'
      ? (['tool_use_id', event.tool_use_id] as const)
      : (['custom_tool_use_id', event.custom_tool_use_id] as const)
  const call = await findCall(tx, tenant, sessionId, id)
  if (!call) throw invalid(`${at}.${field}: ${id} is no tool call of this session`)
  const expected: Call['state'] = event.type === 'user.tool_confirmation' ? 'asked' : 'waiting'
  const other = expected === 'asked' ? 'waiting' : 'asked'
  if (call.state === other) {
    const takes = other === 'asked' ? 'user.tool_confirmation' : 'user.custom_tool_result'
    throw invalid(`${at}.${field}: call ${id} is answered by ${takes}`)
  }
  const twice = before.some((earlier) => field in earlier && (earlier as Record<string, unknown>)[field] === id)
  return call.state === expected && !twice
}

/** Rings for what was committed, and only then. */
export function announce(bus: Bus, tenant: string, sessionId: string, posted: Posted): void {
  if (posted.queued.length > 0) say(bus, sessionId, { kind: 'queued', events: posted.queued })
  if (posted.appended) say(bus, sessionId, ring)
  if (posted.interrupt) say(bus, sessionId, { kind: 'interrupt' })
  if (posted.due) wake(bus, { tenant, session: sessionId })
}
