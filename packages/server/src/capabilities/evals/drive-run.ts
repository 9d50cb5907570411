/** Drives a run: starts its trials, up to its concurrency, and ends the run after them. */
import { runTogether } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { StorageError } from '../../ground/core/errors.ts'
import type { Database } from '../../ground/database/database.ts'
import { leaseMs } from '../../ground/database/lease.ts'
import { keepLease, rowLease } from '../../ground/database/row-lease.ts'
import { computeScores } from './scores.ts'
import type { ResultRow, RunRow } from './store.ts'
import { evalStore } from './store.ts'
import { listenToEvals } from './topics.ts'
import type { TrialContext, EvalDeps } from './end-trial.ts'
import { failTrial } from './end-trial.ts'
import { runTrial } from './trial.ts'
import { rows } from '../../ground/database/rows.ts'

export type EvalRunRef = { db: Database; tenant: string; id: string }

const lookMs = 1_000

/** Does nothing while another process drives the run. After an abort of `stopping`, another process continues. */
export async function driveRun(
  deps: EvalDeps,
  ref: EvalRunRef,
  stopping: AbortSignal,
): Promise<void> {
  const { clock, bus } = deps
  const { db, tenant, id } = ref
  const held = rowLease(db, 'eval_runs', { tenant_id: tenant, id })
  if (!(await held.claim(clock.now(), leaseMs))) return
  const over = new AbortController()
  const canceled = new AbortController()
  const signal = AbortSignal.any([stopping, over.signal])
  const endLease = keepLease(held, clock, (error) => over.abort(error))
  const watching = watchCancel({ clock, bus }, ref, signal, () => canceled.abort()).catch(
    (error: unknown) => over.abort(error),
  )
  try {
    const run = await startRun(deps, ref)
    if (run?.status === 'canceling') canceled.abort()
    if (run) await runTrials(deps, ref, run, { signal, canceled: canceled.signal })
    if (run && !signal.aborted) await finishRun(deps, ref)
  } finally {
    over.abort()
    endLease()
    await watching
    await held.release()
  }
}

/** Calls `cancel` once a caller cancels the run. Resolves after that, or when the signal aborts. */
async function watchCancel(
  { clock, bus }: { clock: Clock; bus: Bus },
  { db, tenant, id }: EvalRunRef,
  signal: AbortSignal,
  cancel: () => void,
): Promise<void> {
  let woken = new AbortController()
  const wake = () => woken.abort()
  const unlisten = listenToEvals(bus, wake)
  signal.addEventListener('abort', wake)
  try {
    while (!signal.aborted) {
      woken = new AbortController()
      const { status } = await rows(db.read, 'eval_runs').get(tenant, id)
      if (status === 'canceling') return cancel()
      if (!signal.aborted) await clock.sleep(lookMs, woken.signal)
    }
  } finally {
    unlisten()
    signal.removeEventListener('abort', wake)
  }
}

/** Marks the run as running; undefined when it has ended meanwhile. */
async function startRun(
  { clock }: EvalDeps,
  { db, tenant, id }: EvalRunRef,
): Promise<RunRow | undefined> {
  return db.write(async (tx) => {
    const store = evalStore(tx)
    const run = await rows(tx, 'eval_runs').getForUpdate(tenant, id)
    if (run.ended_at !== null) return undefined
    if (run.status !== 'queued') return run
    const now = clock.now()
    return store.updateRun(run, { status: 'running', started_at: iso(now) }, now)
  })
}

type RunSignals = { signal: AbortSignal; canceled: AbortSignal }

/** Runs open trials. Trials of a dead process come first, because they began first. */
async function runTrials(
  deps: EvalDeps,
  { db, tenant, id }: EvalRunRef,
  run: RunRow,
  { signal, canceled }: RunSignals,
): Promise<void> {
  const store = evalStore(db.read)
  const trials = openTrials((after) =>
    store.trials(tenant, id, { isOpen: true, ...(after && { after }) }),
  )
  /** A loop that takes trials from the shared reader. Several loops run concurrently. */
  async function work(): Promise<void> {
    for await (const row of trials) {
      if (signal.aborted) return
      if (canceled.aborted && row.status === 'queued') continue
      await runOrFail(deps, { db, run, signal, canceled }, row)
    }
  }
  await Promise.all(Array.from({ length: run.spec.max_concurrency }, work))
}

/** Ends a trial that fails unexpectedly, so that the other trials of its run go on. */
async function runOrFail(
  deps: EvalDeps,
  context: Omit<TrialContext, 'sample'>,
  row: ResultRow,
): Promise<void> {
  const { tenant_id: tenant, run_id, sample_id } = row
  try {
    const sample = await evalStore(context.db.read).sample(tenant, run_id, sample_id)
    if (!sample) throw new Error(`run ${run_id} has no sample ${sample_id}`)
    await runTrial(deps, { ...context, sample }, row)
  } catch (error) {
    // The database fails for all trials: a process tries the run again.
    if (error instanceof StorageError) throw error
    deps.log.error('a step of a trial failed', { error, run_id, result_id: row.id })
    await failTrial(deps, context, row)
  }
}

/** An iterator that several readers share. It reads a page when the previous page is used up. */
function openTrials(
  read: (after: ResultRow | undefined) => Promise<ResultRow[]>,
): AsyncIterable<ResultRow> {
  const rows: ResultRow[] = []
  let last: ResultRow | undefined
  const readMore = runTogether(async () => {
    const found = await read(last)
    last = found.at(-1) ?? last
    rows.push(...found)
    return found.length > 0
  })
  async function next(): Promise<IteratorResult<ResultRow, undefined>> {
    for (;;) {
      const row = rows.shift()
      if (row) return { done: false, value: row }
      if (!(await readMore())) return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

/** Does nothing for a run that another process drives by now, or that has ended. */
async function finishRun({ clock }: EvalDeps, { db, tenant, id }: EvalRunRef): Promise<void> {
  await db.write(async (tx) => {
    const store = evalStore(tx)
    const run = await rows(tx, 'eval_runs').getForUpdate(tenant, id)
    if (run.owner !== db.owners.self || run.ended_at !== null) return
    const now = clock.now()
    const isCanceled = run.status === 'canceling'
    if (isCanceled) await store.cancelQueued(tenant, id, now)
    const graded = await store.graded(tenant, id)
    const status = isCanceled ? 'canceled' : graded.length === 0 ? 'failed' : 'completed'
    const scores = computeScores(graded)
    await store.updateRun(run, { status, scores, ended_at: iso(now) }, now)
  })
}
