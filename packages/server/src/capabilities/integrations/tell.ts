/**
 * Tells the people of an external thread what the log of its session says, one call after the other. The cursor moves when a call is
 * delivered. Each attempt is recorded before it is made: after one of unknown end the adapter looks for what it may have made.
 */
import { isSessionOver } from '../../sessions/log/head.ts'
import type { Log } from '@steward/base/log.ts'
import { iso } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { rowLease } from '../../ground/database/row-lease.ts'
import { findCall } from '../../sessions/log/calls.ts'
import { eventOf, readAt, readLogPage } from '../../sessions/log/log.ts'
import type { CallOf, LogEvent, TellingStep } from './fold.ts'
import { callsIn, stepsOf, toldTypes } from './fold.ts'
import { attempt } from './attempt.ts'
import type { FileSending } from './file-uploads.ts'
import { isOfFiles, lastingNotes, sendFiles } from './file-uploads.ts'
import type { App } from './app.ts'
import type { ChannelDeps, FoundChannel } from './channel.ts'
import { channelOf } from './channel.ts'
import type { Notes, Telling } from './integration.ts'
import { questionNotes, withQuestion, withoutQuestion } from './questions.ts'
import { headOfSession } from './session.ts'
import type { Upload } from './send.ts'
import type { PublicationRow, ExternalThreadRow } from './store.ts'
import { integrationStore } from './store.ts'

export type TellDeps = ChannelDeps &
  Pick<FileSending, 'keeping'> & { bus: Bus; log: Log; holds: Holds; uploadToProvider: Upload }

/**
 * Receivers that want no request before a time: providers limit an installation, whichever thread a request is for. Of this process
 * alone: another one asks once, and learns the same.
 */
export type Holds = Map<string, number>

type Place = { db: Database; tenant: string; signal: AbortSignal }

const leaseMs = 60_000
/** Until a turn that runs is looked at again; its notifications come sooner. */
const runningMs = 5_000
/** Until a session that waits for somebody is looked at again: the answer may come from elsewhere. */
const waitingMs = 60_000
const mostEvents = 100
const mostBytes = 4 * 1024 * 1024

/** `isRunning`: its session goes on, or may, so that its log is worth listening to. `at`: when its receiver may be asked again. */
export type ThreadLook = { isRunning: boolean; at?: number }

/** Undefined where another process has the thread. */
export async function tellThread(
  deps: TellDeps,
  place: Place,
  id: string,
): Promise<ThreadLook | undefined> {
  const { db, tenant } = place
  const { clock } = deps
  const held = rowLease(db, 'integration_threads', { tenant_id: tenant, id })
  if (!(await held.claim(clock.now(), leaseMs))) return undefined
  try {
    return await tellWhile(deps, place, id, () => held.prolong(clock.now(), leaseMs))
  } finally {
    await held.release()
  }
}

/** The thread was changed by somebody else: its next look tells the rest. */
class ChangedError extends Error {}

async function tellWhile(
  deps: TellDeps,
  place: Place,
  id: string,
  prolong: () => Promise<void>,
): Promise<ThreadLook> {
  const { db, tenant, signal } = place
  const { clock } = deps
  const row = await integrationStore(db.read).thread(tenant, id)
  if (!row || row.due_ms === null) return { isRunning: false }
  const publication = await integrationStore(db.read).publication(tenant, row.publication_id)
  if (publication.status !== 'live') {
    await settle(place, row, null)
    return { isRunning: false }
  }
  try {
    const { thread, rest, wait } = await tellAll(deps, place, { row, publication, prolong })
    if (signal.aborted) return { isRunning: false }
    // A receiver gets the wait that it asks for, whoever wakes the thread.
    if (typeof wait === 'number') {
      await update(place, thread, { due_ms: wait })
      return { isRunning: false, at: wait }
    }
    const { dueMs, isRunning } = wait === null ? atRest : rest
    const due_ms = dueMs === null ? null : clock.now() + dueMs
    const isWoken = await settle(place, { ...thread, due_ms: row.due_ms }, due_ms)
    return { isRunning: isWoken || isRunning, ...(isWoken && { at: clock.now() }) }
  } catch (error) {
    if (!(error instanceof ChangedError)) throw error
    return { isRunning: true }
  }
}

type Work = { row: ExternalThreadRow; publication: PublicationRow; prolong: () => Promise<void> }

/** `wait`: until when the receiver wants none; null: until the publication is live again. */
async function tellAll(
  deps: TellDeps,
  place: Place,
  { row, publication, prolong }: Work,
): Promise<{ thread: ExternalThreadRow; rest: Rest; wait?: number | null }> {
  const { db, tenant, signal } = place
  const receiver = publication.installation_id ?? publication.id
  let thread = row
  let known: FoundChannel | undefined

  /** Undefined once it is told, or will never be. */
  async function tell(
    telling: Telling,
    after: Partial<Progress>,
  ): Promise<number | null | undefined> {
    const held = heldUntil(deps, receiver)
    if (held !== undefined) return held
    await prolong()
    known ??= await channelOf(deps, place, publication)
    if (known.kind === 'silent') {
      thread = after.first === null ? await update(place, thread, after) : { ...thread, ...after }
      return undefined
    }
    if (known.kind === 'again') return deps.clock.now() + known.afterMs
    if (known.kind === 'needs_reauth') {
      await needReauth(deps, place, publication.id)
      return null
    }
    const { channel } = known
    const { session_id, scope } = thread
    const notes = withQuestion(telling, thread.notes)
    const { attempts, target } = begunOf(thread, telling)
    let n = attempts
    const start = async (to: Notes): Promise<void> => {
      const begun = { id: telling.id, attempts: ++n, target: to }
      thread = await update(place, thread, { begun, notes })
    }
    const given = { channel, signal, begun: attempts, start, now: () => deps.clock.now() }
    const external = { session: session_id ?? '', scope, target, notes }
    const { keeping, uploadToProvider: upload } = deps
    const done =
      isOfFiles(telling) && channel.files
        ? await sendFiles(
            given,
            { ...channel.files, keeping, upload, db, tenant, prolong },
            telling,
            external,
          )
        : await attempt(given, telling, external)
    switch (done.kind) {
      case 'again':
        if (done.heldMs !== undefined) deps.holds.set(receiver, deps.clock.now() + done.heldMs)
        return deps.clock.now() + done.afterMs
      case 'needs_reauth':
        await needReauth(deps, place, publication.id)
        thread = { ...thread, begun: null }
        return null
      case 'not_taken':
        logNotTaken(deps, { publication, thread, telling }, done.reason)
        thread = await update(place, thread, {
          ...after,
          notes: withoutQuestion(telling, notes),
          begun: null,
        })
        return undefined
      case 'told':
        const all = { ...lastingNotes(notes), ...questionNotes(notes), ...done.notes }
        const told = telling.kind === 'action' ? withoutQuestion(telling, all) : all
        thread = await update(place, thread, { ...after, notes: told, begun: null })
        return undefined
    }
  }

  const tellFirst = async (): Promise<number | null | undefined> =>
    thread.first ? tell(thread.first, { first: null }) : undefined

  async function tellNext(telling: Telling): Promise<number | null | undefined> {
    // What was begun is ended before anything else is.
    const wait = thread.begun?.id === telling.id ? undefined : await tellFirst()
    return wait === undefined ? tell(telling, { told_parts: thread.told_parts + 1 }) : wait
  }

  const isMeant = meantFor(deps.apps.get(publication.integration))
  let rest = atRest
  while (thread.session_id !== null && !signal.aborted) {
    // Before the log: what is read behind a rest is all that there is.
    rest = await restOf(db.read, tenant, thread)
    const { steps, more } = await readSteps(db.read, tenant, thread)
    for (const { seq, tellings } of steps) {
      for (const telling of tellings.filter(isMeant).slice(thread.told_parts)) {
        const wait = await tellNext(telling)
        if (wait !== undefined || signal.aborted) return { thread, rest, wait: wait ?? 0 }
      }
      thread = { ...thread, told_seq: seq, told_parts: 0 }
    }
    if (!more || steps.length === 0) break
  }
  const wait = signal.aborted ? undefined : await tellFirst()
  return { thread, rest, ...(wait !== undefined && { wait }) }
}

/** What an app does nothing with costs no step. */
const meantFor =
  (app: App | undefined) =>
  (telling: Telling): boolean =>
    telling.kind === 'begun'
      ? app?.followsWork === true
      : app?.uploads !== undefined || !isOfFiles(telling)

/** Threads that waited together come back one after the other: the first that is refused holds the others back again. */
function heldUntil({ holds, clock }: TellDeps, receiver: string): number | undefined {
  const [until, now] = [holds.get(receiver) ?? 0, clock.now()]
  if (until > now) return until + Math.round(((until - now) / 4) * Math.random())
  holds.delete(receiver)
  return undefined
}

/** `target`: where it was begun, since a message that came meanwhile may lead elsewhere. */
function begunOf({ begun, target }: ExternalThreadRow, { id }: Telling) {
  return begun?.id === id
    ? { attempts: begun.attempts, target: begun.target ?? target }
    : { attempts: 0, target }
}

function logNotTaken(
  { log }: TellDeps,
  {
    publication,
    thread,
    telling,
  }: Omit<Work, 'row' | 'prolong'> & { thread: ExternalThreadRow; telling: Telling },
  reason: string,
): void {
  log.warn('an answer was not taken by its receiver, and is told no more', {
    publication_id: publication.id,
    session_id: thread.session_id,
    kind: telling.kind,
    reason,
  })
}

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
  return { steps: stepsOf(events, await callsOf(read, { tenant, session_id }, events)), more }
}

async function callsOf(
  read: Reads,
  { tenant, session_id }: { tenant: string; session_id: string },
  events: readonly LogEvent[],
): Promise<CallOf> {
  const known = new Map(events.map(({ event }) => [event.id, event]))
  const missing = callsIn(events).filter((id) => !known.has(id))
  const calls = await Promise.all(missing.map((id) => findCall(read, tenant, session_id, id)))
  const seqs = calls.flatMap((call) => call?.seq ?? [])
  const rows = seqs.length > 0 ? await readAt(read, tenant, session_id, seqs) : []
  for (const row of rows) known.set(row.id, { ...eventOf(row), id: row.id })
  return (id) => {
    const event = known.get(id)
    if (!event || !('name' in event) || !('input' in event)) return undefined
    return { name: event.name, input: event.input, type: event.type }
  }
}

const needReauth = ({ clock }: TellDeps, { db, tenant }: Place, id: string): Promise<void> =>
  db.write(async (tx) => {
    const kept = await integrationStore(tx).takePublication(tenant, id)
    if (kept.status !== 'live') return
    const change = { status: 'needs_reauth', updated_at: iso(clock.now()) } as const
    await integrationStore(tx).updatePublication(kept, change)
  })

type Progress = Pick<ExternalThreadRow, 'told_parts' | 'notes' | 'begun' | 'first' | 'due_ms'>

/** Throws where the thread has another session than was seen, or another process tells it. */
async function takeSame(
  tx: Queries,
  self: string,
  { tenant_id, id, session_id }: ExternalThreadRow,
): Promise<ExternalThreadRow> {
  const kept = await integrationStore(tx).takeThreadById(tenant_id, id)
  if (kept?.owner !== self || kept.session_id !== session_id) throw new ChangedError(id)
  return kept
}

/** The kept row, with what is next to be told first: another than was seen, where somebody has written meanwhile. */
const update = (
  { db }: Place,
  seen: ExternalThreadRow,
  columns: Partial<Progress>,
): Promise<ExternalThreadRow> =>
  db.write(async (tx) => {
    const kept = await takeSame(tx, db.owners.self, seen)
    const { told_seq, told_parts, notes, begun } = seen
    const { first, ...told } = columns
    const isAnother = kept.first?.id !== seen.first?.id
    return integrationStore(tx).updateThread(kept, {
      told_seq,
      told_parts,
      notes,
      begun,
      ...told,
      ...(first !== undefined && !isAnother && { first }),
    })
  })

/** Returns whether somebody has woken the thread since it was `seen`: then it stays due as they have said. */
const settle = ({ db }: Place, seen: ExternalThreadRow, due_ms: number | null): Promise<boolean> =>
  db.write(async (tx) => {
    const kept = await takeSame(tx, db.owners.self, seen)
    const isWoken = kept.due_ms !== seen.due_ms
    const { told_seq, told_parts, notes, begun } = seen
    const told = { told_seq, told_parts, notes, begun }
    await integrationStore(tx).updateThread(kept, { ...told, ...(!isWoken && { due_ms }) })
    return isWoken
  })

/** `dueMs`: from now until the next look, null for none. */
type Rest = { isRunning: boolean; dueMs: number | null }

const atRest: Rest = { isRunning: false, dueMs: null }

async function restOf(
  read: Reads,
  tenant: string,
  { session_id }: ExternalThreadRow,
): Promise<Rest> {
  const head = await headOfSession(read, tenant, session_id)
  if (!head || isSessionOver(head)) return atRest
  const { status, stop_reason, due } = head
  if (status !== 'idle' || due === 1) return { isRunning: true, dueMs: runningMs }
  const waits = stop_reason?.includes('"requires_action"') ?? false
  return { isRunning: waits, dueMs: waits ? waitingMs : null }
}
