/**
 * Tells the people of an external thread the news in its session's log, one call after the other. The cursor moves when
 * a call is delivered. Each attempt is recorded before it is made: after an attempt whose end is unknown, the adapter
 * looks for the result.
 */
import { isCall } from '@steward/protocol/call-events.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { isSessionOver } from '../../../sessions/log/head.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { rowLease } from '../../../ground/database/row-lease.ts'
import {
  findCall,
  isOpenForPerson,
  openCalls,
  readSettlement,
} from '../../../sessions/log/calls.ts'
import { eventOf, readAt, readEvents, readLogPage } from '../../../sessions/log/log.ts'
import type { App } from '../installations/app.ts'
import { isOfFiles } from './file-uploads.ts'
import { inParts } from './parts.ts'
import type { CallOf, LogEvent, TellingStep } from './fold.ts'
import { callsIn, needsEarlier, foldSteps, toldTypes, workerCallsIn } from './fold.ts'
import type { Telling } from '../integration.ts'
import { headOfSession } from '../session.ts'
import type { ExternalThreadRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { Look, Progress, TellDeps, Work } from './thread-look.ts'
import {
  beginLook,
  ChangedError,
  getThreadForUpdate,
  tellFirst,
  tellNext,
  storeTellingProgress,
} from './thread-look.ts'
import type { JobContext } from '../job-context.ts'
import { wakeupStore } from '../../../sessions/rows/wakeups.ts'
import { isInUse } from '../../../tenants/workspaces/in-use.ts'
import { rows } from '../../../ground/database/rows.ts'

const leaseMs = 60_000
/** The wait before the next look at a running turn, or at a call that a worker runs. Notifications normally come sooner. */
const runningMs = 5_000
/** The shortest wait before the next look at a session whose agent wakes itself, so that it has begun by then. */
const wakingMs = 2_000
/** The wait before the next look at a session that waits for a person. The answer may come from elsewhere. */
const waitingMs = 60_000
const mostEvents = 100
const mostBytes = 4 * 1024 * 1024

/**
 * `isRunning`: the log of `session` may get more events, so listen to it. `at`: the time of the next look. `session`:
 * absent where the look did not come so far.
 */
export type ThreadLook = { isRunning: boolean; at?: number; session?: string | null }

/** Resolves to undefined when another process has the thread. */
export async function tellThread(
  deps: TellDeps,
  context: JobContext,
  id: string,
): Promise<ThreadLook | undefined> {
  const { db, tenant } = context
  const { clock } = deps
  const held = rowLease(db, 'integration_threads', { tenant_id: tenant, id })
  if (!(await held.claim(clock.now(), leaseMs))) return undefined
  try {
    return await tellWhile(deps, context, id, async () => {
      await held.prolong(clock.now(), leaseMs)
    })
  } finally {
    await held.release()
  }
}

async function tellWhile(
  deps: TellDeps,
  context: JobContext,
  id: string,
  prolong: () => Promise<void>,
): Promise<ThreadLook> {
  const { db, tenant, signal } = context
  const { clock } = deps
  const row = await rows(db.read, 'integration_threads').find(tenant, id)
  if (!row || row.due_ms === null) return { isRunning: false }
  const publication = await rows(db.read, 'publications').get(tenant, row.publication_id)
  if (publication.status !== 'live' || !(await isInUse(deps.databases, tenant))) {
    await settle(context, row, null)
    return { isRunning: false }
  }
  try {
    const { thread, rest, progress } = await tellAll(deps, context, { row, publication, prolong })
    if (signal.aborted) return { isRunning: false }
    // A receiver gets the wait that it asked for, even when somebody wakes the thread.
    if (progress.kind === 'later') {
      await storeTellingProgress(context, thread, { due_ms: progress.atMs })
      return { isRunning: false, at: progress.atMs }
    }
    if (progress.kind === 'paused') {
      const at = clock.now()
      await storeTellingProgress(context, thread, { due_ms: at })
      return { isRunning: true, at }
    }
    const state = progress.kind === 'unserved' ? atRest : rest
    return await putToRest(deps, context, { ...thread, due_ms: row.due_ms }, state)
  } catch (error) {
    if (!(error instanceof ChangedError)) throw error
    return { isRunning: true }
  }
}

async function putToRest(
  { clock }: TellDeps,
  context: JobContext,
  seen: ExternalThreadRow,
  { dueMs, isRunning, isTimed }: Rest,
): Promise<ThreadLook> {
  const due_ms = dueMs === null ? null : clock.now() + dueMs
  const isWoken = await settle(context, seen, due_ms)
  const at = isWoken ? clock.now() : isTimed ? due_ms : null
  const { session_id: session } = seen
  return { isRunning: isWoken || isRunning, session, ...(at !== null && { at }) }
}

async function tellAll(
  deps: TellDeps,
  context: JobContext,
  { row, publication, prolong }: Work,
): Promise<{ thread: ExternalThreadRow; rest: Rest; progress: Progress }> {
  const { db, tenant, signal } = context
  const look = beginLook(deps, context, { row, publication, prolong })
  const app = deps.apps.get(publication.integration)
  const isMeant = meantFor(app)
  const most = app?.adapter.mostCharacters
  let rest = atRest
  while (look.thread.session_id !== null && !signal.aborted) {
    // The state is read before the log: after a session has come to rest, its log gets no further events.
    rest = await restOf(db.read, tenant, look.thread, deps.clock.now())
    const { steps, more } = await readSteps(db.read, tenant, look.thread)
    for (const { seq, tellings } of steps) {
      const told = tellings.filter(isMeant).flatMap((each) => inParts(each, most))
      for (const telling of told.slice(look.thread.told_parts)) {
        const progress = await tellNext(look, telling)
        if (progress.kind !== 'done') return { thread: look.thread, rest, progress }
      }
      look.thread = { ...look.thread, told_seq: seq, told_parts: 0 }
    }
    if (!more || steps.length === 0) break
  }
  const gone = signal.aborted ? undefined : await tellDeletion(look)
  const progress = gone ?? (await tellFirst(look))
  return { thread: look.thread, rest, progress }
}

/** Tells people whose answer has not come that it will not come, when the session was deleted. */
async function tellDeletion(look: Look): Promise<Progress | undefined> {
  const { context, thread } = look
  const { db, tenant } = context
  const { session_id: session } = thread
  if (session === null || (await headOfSession(db.read, tenant, session))) return undefined
  if (!(await integrationStore(db.read).isAnswerDue(tenant, session))) return undefined
  const message = 'The session of this thread was deleted.'
  const progress = await tellNext(look, { kind: 'error', id: `${session}.deleted`, message })
  return progress.kind === 'done' ? undefined : progress
}

/** Filters out tellings that the app ignores, so that they cost no step. */
const meantFor =
  (app: App | undefined) =>
  (telling: Telling): boolean =>
    app?.uploads !== undefined || !isOfFiles(telling)

async function readSteps(
  read: Reads,
  tenant: string,
  { session_id, told_seq }: ExternalThreadRow,
): Promise<{ steps: TellingStep[]; more: boolean }> {
  if (session_id === null || !(await headOfSession(read, tenant, session_id)))
    return { steps: [], more: false }
  const range = { after: told_seq, limit: mostEvents, bytes: mostBytes, types: toldTypes }
  const { rows, more } = await readLogPage(read, tenant, session_id, range)
  const events = rows.map((row): LogEvent => ({
    seq: row.seq,
    event: { ...eventOf(row), id: row.id },
  }))
  const callOf = await callsOf(read, { tenant, session_id }, events)
  const earlier = needsEarlier(events)
    ? await eventBefore(read, { tenant, session_id }, told_seq)
    : undefined
  return { steps: foldSteps(events, callOf, earlier), more }
}

/** The event that `foldSteps` needs before the events behind `told_seq`. */
async function eventBefore(
  read: Reads,
  { tenant, session_id }: { tenant: string; session_id: string },
  told_seq: number,
): Promise<NewEvent | undefined> {
  const types = toldTypes.filter((type) => type !== 'user.tool_result')
  const range = { before: told_seq + 1, order: 'desc', limit: 1, types } as const
  const [row] = await readEvents(read, tenant, session_id, range)
  return row && eventOf(row)
}

async function callsOf(
  read: Reads,
  { tenant, session_id }: { tenant: string; session_id: string },
  events: readonly LogEvent[],
): Promise<CallOf> {
  const find = (id: string) => findCall(read, tenant, session_id, id)
  const known = new Map(events.map(({ event }) => [event.id, event]))
  const missing = callsIn(events).filter((id) => !known.has(id))
  const seqs = (await Promise.all(missing.map(find))).flatMap((call) => call?.seq ?? [])
  const rows = seqs.length > 0 ? await readAt(read, tenant, session_id, seqs) : []
  for (const row of rows) known.set(row.id, { ...eventOf(row), id: row.id })
  const settledSeqs = new Map<string, number>()
  const callOf: CallOf = (id) => {
    const event = known.get(id)
    const settledSeq = settledSeqs.get(id)
    return event && isCall(event)
      ? { event, ...(settledSeq !== undefined && { settledSeq }) }
      : undefined
  }
  for (const id of new Set(workerCallsIn(events, callOf))) {
    const call = await find(id)
    if (!call || call.state === 'asked') continue
    const { seq } = await readSettlement(read, tenant, session_id, { call, confirmed: true })
    settledSeqs.set(id, seq)
  }
  return callOf
}

/**
 * Stores the next due time. Returns true when somebody has woken the thread since `seen`: the thread then keeps its new
 * due time.
 */
const settle = (
  { db }: JobContext,
  seen: ExternalThreadRow,
  due_ms: number | null,
): Promise<boolean> =>
  db.write(async (tx) => {
    const kept = await getThreadForUpdate(tx, db.owners.self, seen)
    const isWoken = kept.due_ms !== seen.due_ms
    const { told_seq, told_parts, notes, begun } = seen
    const told = { told_seq, told_parts, notes, begun }
    await rows(tx, 'integration_threads').update(kept, { ...told, ...(!isWoken && { due_ms }) })
    return isWoken
  })

/** `dueMs`: the wait until the next look, or null for no look. `isTimed`: nothing but the time calls for this look. */
type Rest = { isRunning: boolean; dueMs: number | null; isTimed?: true }

const atRest: Rest = { isRunning: false, dueMs: null }

async function restOf(
  read: Reads,
  tenant: string,
  { session_id }: ExternalThreadRow,
  now: number,
): Promise<Rest> {
  const head = await headOfSession(read, tenant, session_id)
  if (session_id === null || !head || isSessionOver(head)) return atRest
  const { status, stop_reason, due } = head
  if (status !== 'idle' || due === 1) return { isRunning: true, dueMs: runningMs }
  if (!stop_reason?.includes('"requires_action"')) {
    const wakes = await wakeupStore(read).nextOf(tenant, session_id)
    // The agent wakes itself then: a turn begins without a delivery.
    if (wakes === null) return atRest
    return { isRunning: false, dueMs: Math.max(wakes - now, wakingMs), isTimed: true }
  }
  const calls = await openCalls(read, tenant, session_id)
  return { isRunning: true, dueMs: calls.some(isOpenForPerson) ? waitingMs : runningMs }
}
