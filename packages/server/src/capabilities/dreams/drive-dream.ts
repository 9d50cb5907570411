/** Drives a dream until its session has stopped, in any process: each step commits only if the row is unchanged. */
import { iso } from '@steward/base/time.ts'
import type { DreamError } from '@steward/protocol/dreams.ts'
import { PlatformError, StorageError } from '../../ground/core/errors.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Database } from '../../ground/database/database.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { postEvents } from '../../sessions/events/post.ts'
import type { Head } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { archiveSession } from '../../sessions/update.ts'
import { lastError } from '../../sessions/log/read-all.ts'
import { whenResting } from '../../sessions/log/await-resting.ts'
import {
  beginDream,
  copyMemories,
  DreamFailedError,
  openDream,
  DreamOvertakenError,
  getDreamForUpdate,
} from './begin-dream.ts'
import type { DreamRow } from './store.ts'
import { dreamStore } from './store.ts'
import { usageOfSession } from './usage.ts'
import { rows } from '../../ground/database/rows.ts'

export type DreamContext = {
  db: Database
  tenant: string
  id: string
  /** Aborts when the process stops; another process continues. */
  signal: AbortSignal
  /** Aborts when a caller has canceled the dream. */
  canceled: AbortSignal
}

/** Time limit from the start of a dream to the rest of its session. */
const longestMs = 24 * 60 * 60 * 1000
/** Consecutive failures of a step, other than a caller's mistake, that end the dream. Pauses between tries double. */
const mostTries = 5
const firstPauseMs = 250
/** Time that a session has to come to rest before it gets another interrupt. */
const interruptMs = 60_000

export async function driveDream(deps: OpenSessionDeps, context: DreamContext): Promise<void> {
  const { clock, log } = deps
  const { db, tenant, id, signal } = context
  let failed = 0
  /** The error that ends the dream; undefined when the step is to be repeated. */
  async function endAfter(error: unknown, row: DreamRow): Promise<DreamError | undefined> {
    if (error instanceof DreamFailedError) return { type: error.type, message: error.message }
    // Rethrow: the database fails for all dreams, or the dream has ended and only its session must stop.
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
    const row = await rows(db.read, 'dreams').get(tenant, id)
    if (row.stopped === 1) return
    try {
      if (row.ended_at !== null) await stopDream(deps, context, row)
      else await advanceDream(deps, context, row)
      failed = 0
    } catch (error) {
      if (error instanceof DreamOvertakenError) continue
      const end = await endAfter(error, row)
      if (end) await endDream(deps, context, row, end)
    }
  }
}

/** Takes one step of the dream. */
async function advanceDream(
  deps: OpenSessionDeps,
  context: DreamContext,
  row: DreamRow,
): Promise<void> {
  if (row.status === 'pending') {
    await beginDream(deps, context, row)
    return
  }
  if (row.session_id !== null) {
    await watch(deps, context, row, row.session_id)
    return
  }
  if (deps.clock.now() >= untilOf(row)) throw lateDream()
  if (!(await copyMemories(deps, context, row))) await openDream(deps, context, row)
}

const untilOf = ({ started_at, created_at }: DreamRow): number =>
  Date.parse(started_at ?? created_at) + longestMs

const lateDream = () => new DreamFailedError('timeout', 'the dream took longer than 24 hours')

const isThere = async ({ db, tenant }: DreamContext, session: string): Promise<boolean> =>
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
  deps: OpenSessionDeps,
  context: DreamContext,
  row: DreamRow,
  session: string,
): Promise<void> {
  const { bus, clock } = deps
  const { db, tenant, signal, canceled } = context
  if (!(await isThere(context, session)))
    throw new DreamFailedError('session_ended', 'the session was deleted')
  const head = await whenResting(
    { read: db.read, bus, tenant, session, clock },
    { untilMs: untilOf(row), signal, early: canceled },
  )
  if (head === undefined || canceled.aborted) return
  if (head === 'late') throw lateDream()
  await checkEnd(context, session, head)
  await endDream(deps, context, row, null)
}

/** Throws `DreamFailedError` unless the session ended its turn. */
async function checkEnd({ db, tenant }: DreamContext, session: string, head: Head): Promise<void> {
  if (head.status !== 'idle')
    throw new DreamFailedError('session_ended', `the session is ${head.status}`)
  const stop = head.stop_reason === null ? undefined : fromJson(head.stop_reason)
  if (stop?.type === 'end_turn') return
  if (stop?.type === 'requires_action')
    throw new DreamFailedError('needs_input', 'the session waits for an answer that nobody gives')
  throw new DreamFailedError('turn_failed', await lastError(db.read, { tenant, session }))
}

/** Sets the final status. */
async function endDream(
  { clock }: OpenSessionDeps,
  { db }: DreamContext,
  seen: DreamRow,
  error: DreamError | null,
): Promise<void> {
  await db.write(async (tx) => {
    const row = await getDreamForUpdate(tx, seen)
    const now = clock.now()
    const status = error ? 'failed' : 'completed'
    await dreamStore(tx).update(row, { status, error, ended_at: iso(now) }, now)
  })
}

/** Brings the session to rest, archives it and releases the store. */
async function stopDream(
  deps: OpenSessionDeps,
  context: DreamContext,
  row: DreamRow,
): Promise<void> {
  const { bus, clock } = deps
  const { db, tenant, signal } = context
  const { session_id: session } = row
  const isOpen = session !== null && (await isThere(context, session))
  if (isOpen) {
    await interrupt(deps, context, session)
    const until = { untilMs: clock.now() + interruptMs, signal }
    const rest = await whenResting({ read: db.read, bus, tenant, session, clock }, until)
    if (rest === undefined || rest === 'late') return
  }
  const step = db.write(async (tx) => {
    const taken = await getDreamForUpdate(tx, row)
    const now = clock.now()
    if (isOpen) await archiveSession(tx, tenant, session, now)
    const usage = session === null ? undefined : await usageOfSession(tx, tenant, session)
    const stopped = { stopped: 1, held_store_id: null, usage: usage ?? null } as const
    await dreamStore(tx).update(taken, stopped, now)
  })
  await unlessMoved(step)
}

async function interrupt(
  { bus, clock }: OpenSessionDeps,
  { db, tenant, signal }: DreamContext,
  session: string,
): Promise<void> {
  const now = { untilMs: 0, signal }
  const rest = await whenResting({ read: db.read, bus, tenant, session, clock }, now)
  if (rest !== 'late') return
  await unlessMoved(
    db.write((tx) => postEvents(tx, tenant, session, [{ type: 'user.interrupt' }], clock.now())),
  )
}

/** Undefined when the session refuses the step, because it was deleted or runs again: examine the dream anew. */
async function unlessMoved<T>(step: Promise<T>): Promise<T | undefined> {
  try {
    return await step
  } catch (error) {
    if (error instanceof PlatformError) return undefined
    throw error
  }
}
