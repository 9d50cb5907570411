/** Drives a dream from its creation until its session has stopped. Any process may: each step is a commit that finds the row as it was. */
import type { Log } from '@steward/base/log.ts'
import { iso } from '@steward/base/time.ts'
import type { DreamError } from '@steward/protocol/dreams.ts'
import { PlatformError, StorageError } from '../../ground/core/errors.ts'
import { fromJson } from '../../ground/core/json-text.ts'
import type { Database } from '../../ground/database/database.ts'
import { announcePosted, postEvents } from '../../sessions/events/post.ts'
import type { Head } from '../../sessions/log/head.ts'
import { newEvents, notifySession } from '../../sessions/log/topics.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { archiveSession } from '../../sessions/update.ts'
import { lastError } from '../evals/evidence.ts'
import { whenResting } from '../evals/resting.ts'
import type { BeginDeps } from './begin.ts'
import {
  beginDream,
  copyMemories,
  DreamFailedError,
  openDream,
  OvertakenError,
  takeSame,
} from './begin.ts'
import type { DreamRow } from './store.ts'
import { dreamStore } from './store.ts'
import { usageOfSession } from './usage.ts'

export type DreamDeps = BeginDeps & { log: Log }
export type DreamPlace = {
  db: Database
  tenant: string
  id: string
  /** Aborts when the process stops: another one goes on. */
  signal: AbortSignal
  /** Aborts when a caller has canceled the dream. */
  canceled: AbortSignal
}

/** From its start to the rest of its session. */
const longestMs = 24 * 60 * 60 * 1000
/** How often in a row a step may fail for a reason that is nobody's mistake. The pauses between the tries double. */
const mostTries = 5
const firstPauseMs = 250
/** How long a session may take to come to rest after an interrupt, before it gets another. */
const interruptMs = 60_000

export async function driveDream(deps: DreamDeps, place: DreamPlace): Promise<void> {
  const { clock, log } = deps
  const { db, tenant, id, signal } = place
  let failed = 0
  /** What the dream ends with; undefined when the step is tried again. */
  async function endAfter(error: unknown, row: DreamRow): Promise<DreamError | undefined> {
    if (error instanceof DreamFailedError) return { type: error.type, message: error.message }
    // The database is away for all dreams, and a dream that has ended only has to stop.
    if (error instanceof StorageError || row.ended_at !== null) throw error
    log.error('a step of a dream failed', { error, dream_id: id })
    failed += 1
    if (failed < mostTries) {
      await clock.sleep(firstPauseMs * 2 ** (failed - 1), signal)
      return undefined
    }
    const message = `a step failed ${failed} times: the server's log has the reason`
    return { type: 'internal_error', message }
  }
  while (!signal.aborted) {
    const row = await dreamStore(db.read).row(tenant, id)
    if (row.stopped === 1) return
    try {
      if (row.ended_at !== null) await stopDream(deps, place, row)
      else await advance(deps, place, row)
      failed = 0
    } catch (error) {
      if (error instanceof OvertakenError) continue
      const end = await endAfter(error, row)
      if (end) await endDream(deps, place, row, end)
    }
  }
}

/** One step. */
async function advance(deps: DreamDeps, place: DreamPlace, row: DreamRow): Promise<void> {
  if (row.status === 'pending') {
    await beginDream(deps, place, row)
    return
  }
  if (row.session_id !== null) {
    await watch(deps, place, row, row.session_id)
    return
  }
  if (deps.clock.now() >= untilOf(row)) throw late()
  if (!(await copyMemories(deps, place, row))) await openDream(deps, place, row)
}

const untilOf = ({ started_at, created_at }: DreamRow): number =>
  Date.parse(started_at ?? created_at) + longestMs

const late = () => new DreamFailedError('timeout', 'the dream took longer than 24 hours')

const isThere = async ({ db, tenant }: DreamPlace, session: string): Promise<boolean> =>
  sessionStore(db.read)
    .row(tenant, session)
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof PlatformError) return false
        throw error
      },
    )

async function watch(
  deps: DreamDeps,
  place: DreamPlace,
  row: DreamRow,
  session: string,
): Promise<void> {
  const { bus, clock } = deps
  const { db, tenant, signal, canceled } = place
  if (!(await isThere(place, session)))
    throw new DreamFailedError('session_ended', 'the session was deleted')
  const head = await whenResting(
    { read: db.read, bus, tenant, session, clock },
    { untilMs: untilOf(row), signal, early: canceled },
  )
  if (head === undefined || canceled.aborted) return
  if (head === 'late') throw late()
  await checkEnd(place, session, head)
  await endDream(deps, place, row, null)
}

/** Throws for a session that did not end its turn. */
async function checkEnd({ db, tenant }: DreamPlace, session: string, head: Head): Promise<void> {
  if (head.status !== 'idle')
    throw new DreamFailedError('session_ended', `the session is ${head.status}`)
  const stop = head.stop_reason === null ? undefined : fromJson(head.stop_reason)
  if (stop?.type === 'end_turn') return
  if (stop?.type === 'requires_action')
    throw new DreamFailedError('needs_input', 'the session waits for an answer that nobody gives')
  throw new DreamFailedError('turn_failed', await lastError(db.read, { tenant, session }))
}

/** The status is final from then on. */
async function endDream(
  { clock }: DreamDeps,
  { db }: DreamPlace,
  seen: DreamRow,
  error: DreamError | null,
): Promise<void> {
  await db.write(async (tx) => {
    const row = await takeSame(tx, seen)
    const now = clock.now()
    const status = error ? 'failed' : 'completed'
    await dreamStore(tx).update(row, { status, error, ended_at: iso(now) }, now)
  })
}

/** Brings its session to rest, archives it, and lets go of the store. */
async function stopDream(deps: DreamDeps, place: DreamPlace, row: DreamRow): Promise<void> {
  const { bus, clock } = deps
  const { db, tenant, signal } = place
  const { session_id: session } = row
  const isOpen = session !== null && (await isThere(place, session))
  if (isOpen) {
    await interrupt(deps, place, session)
    const until = { untilMs: clock.now() + interruptMs, signal }
    const rest = await whenResting({ read: db.read, bus, tenant, session, clock }, until)
    if (rest === undefined || rest === 'late') return
  }
  const step = db.write(async (tx) => {
    const taken = await takeSame(tx, row)
    const now = clock.now()
    if (isOpen) await archiveSession(tx, tenant, session, now)
    const usage = session === null ? undefined : await usageOfSession(tx, tenant, session)
    const stopped = { stopped: 1, held_store_id: null, usage: usage ?? null } as const
    await dreamStore(tx).update(taken, stopped, now)
  })
  await unlessMoved(step)
  if (isOpen) notifySession(bus, session, newEvents)
}

async function interrupt(
  { bus, clock }: DreamDeps,
  { db, tenant, signal }: DreamPlace,
  session: string,
): Promise<void> {
  const now = { untilMs: 0, signal }
  const rest = await whenResting({ read: db.read, bus, tenant, session, clock }, now)
  if (rest !== 'late') return
  const sent = await unlessMoved(
    db.write((tx) => postEvents(tx, tenant, session, [{ type: 'user.interrupt' }], clock.now())),
  )
  if (sent) announcePosted(bus, tenant, session, sent)
}

/** A session that was deleted, or runs again, refuses the step: the dream is looked at anew. */
async function unlessMoved<T>(step: Promise<T>): Promise<T | undefined> {
  try {
    return await step
  } catch (error) {
    if (error instanceof PlatformError) return undefined
    throw error
  }
}
