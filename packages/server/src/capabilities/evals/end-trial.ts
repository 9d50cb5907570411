/** Ends a trial. Its result, and the archive of its session, are one commit. */
import { iso } from '@steward/base/time.ts'
import type { EvalFailure, Score } from '@steward/protocol/evals.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { PlatformError, StorageError } from '../../ground/core/errors.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { readHead, showHeadUsage } from '../../sessions/log/head.ts'
import { archiveSession } from '../../sessions/update.ts'
import { whenResting } from '../../sessions/log/await-resting.ts'
import type { ResultRow, RunRow } from './store.ts'
import { evalStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

/** `matches`: the tenants' shares of the processes that match expressions. */
export type EvalDeps = OpenSessionDeps & { matches: Share }

export type TrialContext = {
  db: Database
  run: RunRow
  sample: Sample
  /** Aborts when the process stops or loses the run; the trial stays as it is. */
  signal: AbortSignal
  /** Aborts when the run is canceled. */
  canceled: AbortSignal
}

type EndContext = Pick<TrialContext, 'db' | 'signal'>

export type TrialEnd =
  | { status: 'passed' | 'failed'; scores: Score[]; answer: string }
  | { status: 'errored'; error: EvalFailure; scores?: Score[]; answer?: string | null }
  | { status: 'canceled' }

/** Time that a session has to come to rest after an interrupt. */
const interruptMs = 60_000

export const trialError = (type: string, message: string): TrialEnd => ({
  status: 'errored',
  error: { type, message },
})

/** Locks the row of a trial in this state; undefined when another process changed the trial. */
export async function findTrialForUpdate(
  tx: Queries,
  { tenant_id, id, status, step }: ResultRow,
): Promise<ResultRow | undefined> {
  const row = await rows(tx, 'eval_results').getForUpdate(tenant_id, id)
  return row.status === status &&
    row.step.posted === step.posted &&
    row.step.inspected === step.inspected
    ? row
    : undefined
}

/** Interrupts the session, and ends the trial when the session rests. */
export async function stopTrial(
  deps: EvalDeps,
  context: EndContext,
  row: ResultRow,
  ending: TrialEnd,
): Promise<void> {
  const { bus, clock } = deps
  const { db, signal } = context
  const { tenant_id: tenant, session_id: session } = row
  if (session === null) return
  const interrupt = { type: 'user.interrupt' } as const
  await db
    .write((tx) => postEvents(tx, tenant, session, [interrupt], clock.now()))
    .catch((error: unknown) => {
      // Archived or deleted meanwhile: there is nothing to interrupt.
      if (!(error instanceof PlatformError)) throw error
    })
  const untilMs = clock.now() + interruptMs
  const rest = await whenResting(
    { read: db.read, bus, tenant, session, clock },
    { untilMs, signal },
  )
  if (rest !== undefined) await settleTrial(deps, context, row, ending)
}

/** Ends the trial, and archives its session in the same commit. */
export async function settleTrial(
  deps: EvalDeps,
  { db }: EndContext,
  row: ResultRow,
  ending: TrialEnd,
): Promise<void> {
  const { tenant_id: tenant, session_id: session } = row
  if (session === null) {
    await endTrial(deps, db, row, ending)
    return
  }
  try {
    await db.write(async (tx) => {
      await endIn(tx, deps, row, ending)
      await archiveSession(tx, tenant, session, deps.clock.now())
    })
  } catch (error) {
    // The session was deleted, or still runs after its interrupt: store the result without archiving it.
    if (!(error instanceof PlatformError)) throw error
    await endTrial(deps, db, row, ending)
  }
}

export const endTrial = (
  deps: EvalDeps,
  db: Database,
  row: ResultRow,
  ending: TrialEnd,
): Promise<void> => db.write((tx) => endIn(tx, deps, row, ending))

async function endIn(
  tx: Queries,
  { clock }: EvalDeps,
  row: ResultRow,
  ending: TrialEnd,
  withUsage = true,
): Promise<void> {
  const { tenant_id: tenant, session_id: session } = row
  const taken = await findTrialForUpdate(tx, row)
  if (!taken) return
  const now = clock.now()
  const head = withUsage && session !== null ? await readHead(tx, tenant, session) : undefined
  const usage = head ? showHeadUsage(head, now) : null
  const duration_ms = taken.started_at === null ? null : now - Date.parse(taken.started_at)
  await rows(tx, 'eval_results').update(taken, {
    ...ending,
    usage,
    duration_ms,
    ended_at: iso(now),
  })
}

/** Ends a trial whose step failed, for a reason that only the server's log has. */
export async function failTrial(
  deps: EvalDeps,
  context: EndContext,
  { tenant_id: tenant, id }: ResultRow,
): Promise<void> {
  const { db, signal } = context
  const row = await evalStore(db.read).result(tenant, id)
  if (row.ended_at !== null) return
  const ending = trialError('internal_error', "a step failed: the server's log has the reason")
  try {
    if (row.session_id !== null) return await stopTrial(deps, context, row, ending)
  } catch (error) {
    if (error instanceof StorageError) throw error
    // The session itself may be the reason.
  }
  if (!signal.aborted) await db.write((tx) => endIn(tx, deps, row, ending, false))
}
