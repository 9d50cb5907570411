/** What a client posts, admitted or processed on receipt, in one transaction. contract.md 2.3 */
import type { ClientEvent, EventOf, NewEvent } from '@steward/protocol/events.ts'
import type { Bus } from '../../bus/bus.ts'
import { invalid, notFound, unsupported } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { iso } from '../../core/time.ts'
import type { Queries } from '../../database/database.ts'
import type { Call } from '../../events/calls.ts'
import { findCall, openCalls } from '../../events/calls.ts'
import type { Head } from '../../events/head.ts'
import { asksForAction, lockHead } from '../../events/head.ts'
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

/** Where the events of one request go: behind those that wait, or into the log at once. */
type Sorted = { waits: Waiting[]; kept: NewEvent[] }
type Target = { tx: Queries; tenant: string; sessionId: string; head: Head }

export async function postEvents(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly ClientEvent[],
  now: number,
): Promise<Posted> {
  await sessionStore(tx).row(tenant, sessionId)
  const head = await lockHead(tx, tenant, sessionId)
  if (head.status === 'deleted') throw notFound('session', sessionId)
  if (head.status === 'done') {
    throw invalid(`session ${sessionId} is archived and takes no more events`)
  }
  const target = { tx, tenant, sessionId, head }
  const sorted: Sorted = { waits: [], kept: [] }
  const fresh = events.map((event) => ({ ...event, id: newId('event') }))
  for (const [index, event] of fresh.entries()) {
    await receive(target, sorted, event, { at: `events.${index}`, behind: fresh[index - 1] })
  }
  const { waits, kept } = sorted
  const interrupt = waits.some((event) => event.type === 'user.interrupt')
  // A session that waits for an answer takes messages without running them.
  const due = kept.length > 0 || interrupt || (waits.length > 0 && !asksForAction(target.head))
  if (waits.length > 0) await admit(tx, tenant, sessionId, waits, { now, due })
  const entries = kept.map((event) => ({ event }))
  const place =
    entries.length > 0 && (await append(tx, tenant, sessionId, entries, { now, due: true }))
  const echoes = fresh.map((event) => {
    const waiting = waits.some(({ id }) => id === event.id)
    const index = kept.findIndex(({ id }) => id === event.id)
    const seq = place && index >= 0 ? place.first + index : null
    return echo(sessionId, event, { seq, processed_at: waiting ? null : iso(now) }, now)
  })
  return {
    echoes,
    queued: echoes.filter(({ type, processed_at }) => type === 'user.message' && !processed_at),
    appended: kept.length > 0,
    due,
    interrupt,
  }
}

async function receive(
  target: Target,
  { waits, kept }: Sorted,
  event: ClientEvent & { id: string },
  { at, behind }: { at: string; behind: (ClientEvent & { id: string }) | undefined },
): Promise<void> {
  switch (event.type) {
    case 'user.message':
      checkContent(event.content, at)
      waits.push(event)
      return
    case 'system.message':
      if (behind?.type === 'user.message') waits.push(event)
      // Behind a result that was answered before it was kept before, too.
      else if (kept.some(({ id }) => id === behind?.id)) kept.push(event)
      return
    case 'user.interrupt':
      // Of an idle session with nothing waiting there is nothing to stop, and nothing to record.
      if (waits.length > 0 || (await isBusy(target))) waits.push(event)
      return
    case 'user.tool_confirmation':
    case 'user.custom_tool_result':
      if (await settles(target, event, kept, at)) kept.push(event)
      return
    case 'user.tool_result':
      throw unsupported(
        `${at}.type`,
        'user.tool_result, which belongs to self_hosted environments, is',
      )
  }
}

async function isBusy({ tx, tenant, sessionId, head }: Target): Promise<boolean> {
  if (head.due === 1 || (head.status !== 'idle' && head.status !== 'pending')) return true
  return (await openCalls(tx, tenant, sessionId)).length > 0
}

function echo(
  sessionId: string,
  event: NewEvent,
  place: { seq: number | null; processed_at: string | null },
  now: number,
): WireEvent {
  const { id, type, ...fields } = event
  const data = JSON.stringify(fields)
  return showEvent(sessionId, { ...place, id, type, created_at: iso(now), data })
}

type Settling = EventOf<'user.tool_confirmation'> | EventOf<'user.custom_tool_result'>

/** Whether the event answers a call that waits for it; false when it was answered before, so that a retry is safe. */
async function settles(
  { tx, tenant, sessionId }: Target,
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
  const twice = before.some(
    (earlier) => field in earlier && (earlier as Record<string, unknown>)[field] === id,
  )
  return call.state === expected && !twice
}

/** Rings for what was committed, and only then. */
export function announce(bus: Bus, tenant: string, sessionId: string, posted: Posted): void {
  if (posted.queued.length > 0) say(bus, sessionId, { kind: 'queued', events: posted.queued })
  if (posted.appended) say(bus, sessionId, ring)
  if (posted.interrupt) say(bus, sessionId, { kind: 'interrupt' })
  if (posted.due) wake(bus, { tenant, session: sessionId })
}
