/**
 * Admits the events of one request in one transaction: into the inbox, or into the log at once.
 * [events/post/all-or-nothing]
 */
import type { ClientEvent, EventOf } from '@steward/protocol/events.ts'
import { countCharacters } from '../../ground/core/text/characters.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { fitsOneStatement } from '../../ground/database/counted-insertion.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { findCall } from '../log/calls.ts'
import { getHeadForUpdate, readHead, stateOf } from '../log/head.ts'
import type { WaitingEvent } from '../log/inbox.ts'
import { toAdmission, admitEvents, admitDirectly, checkRoomFor } from '../log/inbox.ts'
import type { StoredEvent } from '../log/log.ts'
import { appendEntries } from '../log/append.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import type { SortedEvents, PostTarget } from './sort-events.ts'
import {
  admitInterrupts,
  checkThread,
  toThreadEntry,
  emptySorting,
  sortInterrupt,
  waitingEvents,
} from './sort-events.ts'
import { makeDue } from '../log/threads/due.ts'
import { readThreadHead, threadIdOf } from '../log/threads/team.ts'
import type { LongTexts } from '../log/long-texts.ts'
import { withLongTexts } from '../log/long-texts.ts'
import { announceRowChange, notifyInterrupt, notifyReaders, notifyRunners } from '../log/topics.ts'
import { checkShown, namesFiles } from '../../resources/files/shown-media.ts'
import { enqueueSession } from '../work/queue.ts'
import { sessionStore } from '../rows/sessions.ts'
import type { CallAnswer } from './answers.ts'
import { defineOutcome } from './define-outcome.ts'
import { callOf, checkSame, findKeptMessage, findSettlement } from './answers.ts'
import { checkAnswered, checkBudgetLeft, checkOpen } from './check-state.ts'

/** The events of a request as they are stored, in order. For a repeated answer: the event that settled its call. */
export type PostedEvents = StoredEvent[]

type NewClientEvent = ClientEvent & { id: string }

/** Characters of the messages that are admitted by one statement. */
const mostDirect = 64 * 1024

/** True when all are messages that can be admitted without reading anything but the head. */
const areDirect = (events: readonly ClientEvent[]): boolean =>
  events.every(
    (event) =>
      event.type === 'user.message' &&
      !('session_thread_id' in event) &&
      !namesFiles(event.content),
  ) &&
  fitsOneStatement(events.length) &&
  countCharacters(events) <= mostDirect

/** `steers`: messages join the turn that runs, where one does. */
type PostContext = { tenant: string; session: string; clock: Clock; steers?: boolean }

/**
 * Admits messages by one statement. Returns undefined, and writes nothing, when the events must be posted in a unit.
 */
async function postDirectly(
  db: Database,
  { tenant, session, clock, steers = false }: PostContext,
  events: readonly ClientEvent[],
): Promise<PostedEvents | undefined> {
  if (!areDirect(events)) return undefined
  const now = clock.now()
  const admitted = events.map((event) => ({
    ...toAdmission({ ...event, id: newId('event') } as WaitingEvent),
    steers,
  }))
  const ref = { tenant, session }
  const echoes = waitingEvents(admitted, now)
  const isAdmitted = await db.writeStatement(async (tx) => {
    const head = await admitDirectly(tx, ref, admitted, now)
    if (!head) return false
    notifyPosted(tx, ref, { waiting: echoes, due: head.due })
    return true
  })
  return isAdmitted ? echoes : undefined
}

type PostedState = {
  waiting: readonly StoredEvent[]
  due: boolean
  interrupt?: boolean
  /** Events are appended too, which readers hear of by the append. */
  isAppended?: boolean
}

/** Notifies readers of what waits, and runners of their work. */
function notifyPosted(
  tx: Queries,
  { tenant, session }: SessionRef,
  { waiting, due, interrupt = false, isAppended = false }: PostedState,
): void {
  const events = waiting.filter(({ type }) => type === 'user.message')
  if (events.length > 0) {
    notifyReaders(tx, session, { kind: 'queued', events })
    if (!isAppended) announceRowChange(tx, tenant, session)
  }
  if (interrupt) notifyInterrupt(tx, session)
  if (due) notifyRunners(tx, { tenant, session })
}

/**
 * Posts the events of one request. `check` runs within the unit and throws for a caller without permission. `finish`
 * runs in it after the events were admitted.
 */
export async function postInUnits(
  db: Database,
  context: PostContext,
  events: readonly ClientEvent[],
  check?: (tx: Queries, now: number) => Promise<void>,
  finish?: (tx: Queries, posted: PostedEvents) => Promise<void>,
): Promise<PostedEvents> {
  const posted = (check ?? finish) ? undefined : await postDirectly(db, context, events)
  if (posted) return posted
  const { tenant, session, clock, steers } = context
  return withLongTexts(
    db,
    { tenant, session, clock },
    events,
    async (characters) => {
      await sessionStore(db.read).row(tenant, session)
      const head = await readHead(db.read, tenant, session)
      checkOpen(session, head)
      checkBudgetLeft(head, events)
      await checkRoomFor(db.read, tenant, session, head, characters)
    },
    (texts) =>
      db.write(async (tx) => {
        const now = clock.now()
        await check?.(tx, now)
        const admitted = await postEvents(tx, tenant, session, events, now, { texts, steers })
        await finish?.(tx, admitted)
        return admitted
      }),
  )
}

export async function postEvents(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly ClientEvent[],
  now: number,
  { texts, steers = false }: { texts?: LongTexts; steers?: boolean | undefined } = {},
): Promise<PostedEvents> {
  const session = await sessionStore(tx).row(tenant, sessionId)
  const whole = await getHeadForUpdate(tx, tenant, sessionId)
  checkOpen(sessionId, whole)
  checkBudgetLeft(whole, events)
  const head = (await readThreadHead(tx, { tenant, session: sessionId }, whole)) ?? whole
  checkAnswered(head, events)
  const target = { tx, tenant, sessionId, session, head, now }
  const sorted = emptySorting()
  const fresh = events.map((event) => ({ ...event, id: texts?.get(event)?.id ?? newId('event') }))
  const long = new Map([...(texts?.values() ?? [])].map((text) => [text.id, text]))
  for (const [index, event] of fresh.entries()) {
    await checkShown(target, contentOf(event), `events.${index}`)
    await receive(target, sorted, event, { at: `events.${index}`, behind: fresh[index - 1] })
  }
  const { waits, kept, stands, interrupts, threads } = sorted
  const stopped = await admitInterrupts(target, interrupts)
  const interrupt = stopped.length > 0 || waits.some((event) => event.type === 'user.interrupt')
  // A session that waits for an answer stores messages without running them.
  const due =
    kept.length > 0 || interrupt || (waits.length > 0 && stateOf(target.head) !== 'requires_action')
  const admitted = waits.map((event) => ({
    ...toAdmission(event, long.get(event.id)),
    steers: steers && event.type === 'user.message',
  }))
  if (waits.length > 0) {
    await admitEvents(tx, tenant, sessionId, admitted, { now, due })
    if (due && head.team) await makeDue(tx, { tenant, session: sessionId }, [head.team.self.id])
  }
  await enqueueSession(tx, session, now)
  const waiting = [...waitingEvents(admitted, now), ...stopped]
  notifyPosted(
    tx,
    { tenant, session: sessionId },
    { waiting, due, interrupt, isAppended: kept.length > 0 },
  )
  const entries = kept.map((event) => toThreadEntry(event, threads.get(event.id)))
  const dueThreads = entries.map(({ thread }) => threadIdOf({ session: sessionId, thread }))
  const written =
    entries.length > 0 &&
    (await appendEntries(tx, tenant, sessionId, entries, { now, due: true, dueThreads }))
  const appended = entries.map(({ event: { id, type }, data }, index) => ({
    id,
    type,
    data,
    created_at: iso(now),
    processed_at: iso(now),
    seq: written ? written.first + index : null,
  }))
  return inOrder(fresh, [...waiting, ...appended], stands)
}

function inOrder(
  fresh: readonly NewClientEvent[],
  events: readonly StoredEvent[],
  stands: SortedEvents['stands'],
): StoredEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]))
  return fresh.flatMap(({ id }) => {
    const instead = stands.get(id) ?? id
    return (typeof instead === 'string' ? byId.get(instead) : instead) ?? []
  })
}

const contentOf = (event: NewClientEvent) => ('content' in event ? (event.content ?? []) : [])

async function receive(
  target: PostTarget,
  sorted: SortedEvents,
  event: NewClientEvent,
  { at, behind }: { at: string; behind: NewClientEvent | undefined },
): Promise<void> {
  const { waits } = sorted
  if ('session_thread_id' in event) checkThread(target, event.session_thread_id, at)
  switch (event.type) {
    case 'user.message':
      waits.push(event)
      return
    case 'system.message':
      if (behind?.type === 'user.message') waits.push(event)
      else await goBehind(target, sorted, event, { at, answer: behind?.id ?? '' })
      return
    case 'user.interrupt':
      await sortInterrupt(target, sorted, event)
      return
    case 'user.define_outcome':
      sorted.kept.push(await defineOutcome(target.tx, target, event, at))
      return
    case 'user.tool_confirmation':
    case 'user.custom_tool_result':
    case 'user.tool_result':
      await settle(target, sorted, event, at)
      return
  }
}

async function settle(target: PostTarget, sorted: SortedEvents, event: CallAnswer, at: string) {
  const { kept, stands, threads } = sorted
  const settled = await findSettlement({ ...target, at }, event)
  const twice = kept.find(
    (earlier): earlier is CallAnswer =>
      earlier.type === event.type && callOf(earlier) === callOf(event),
  )
  if (settled) stands.set(event.id, settled)
  else if (twice) {
    checkSame(event, twice, at)
    stands.set(event.id, twice.id)
  } else {
    const { tx, tenant, sessionId, head } = target
    const call = head.team && (await findCall(tx, tenant, sessionId, callOf(event)))
    if (call?.thread_id) threads.set(event.id, call.thread_id)
    kept.push(event)
  }
}

/** A system message is stored where the answer before it was stored. */
async function goBehind(
  target: PostTarget,
  { kept, stands, threads }: SortedEvents,
  event: EventOf<'system.message'>,
  { at, answer }: { at: string; answer: string },
) {
  const before = stands.get(answer)
  if (typeof before === 'object')
    stands.set(event.id, await findKeptMessage({ ...target, at }, event, before))
  else {
    const thread = threads.get(answer)
    if (thread !== undefined) threads.set(event.id, thread)
    kept.push(event)
  }
}
