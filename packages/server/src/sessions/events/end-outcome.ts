/** Ends evaluations and outcomes: the row, and the event that the caller appends in the same transaction. */
import type { Usage } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import { iso } from '@steward/base/time.ts'
import type { EvaluationResult, FinalResult } from '@steward/protocol/outcomes.ts'
import { newId, outcomeIdOf } from '../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { Head } from '../log/head.ts'
import type { LogEntry } from '../log/log.ts'
import { eventOf, readEvents } from '../log/log.ts'
import { hasOpenOutcome, outcomeStage } from '../log/outcome-stage.ts'
import type { OutcomeRow } from '../rows/outcomes.ts'
import { outcomeStore } from '../rows/outcomes.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** `entries`: for the log. `head`: the head after the entries. */
export type OutcomeEnd = { entries: LogEntry[]; head: Head }

/** Ends the open outcome of a session. Makes no query without one. */
export async function endOutcome(
  tx: Queries,
  ref: SessionRef,
  head: Head,
  { result, explanation }: { result: FinalResult; explanation: string },
  now: number,
): Promise<OutcomeEnd> {
  if (!hasOpenOutcome(head)) return { entries: [], head }
  const row = await outcomeStore(tx).open(ref.tenant, ref.session)
  const entries = [await endEvaluation(tx, ref, row, { result, explanation }, now)]
  return { entries, head: { ...head, outcome: outcomeStage.ended } }
}

/**
 * Ends the open outcome by an interrupt. `id`: of the newest interrupt; an outcome that was defined after it stays
 * open.
 */
export async function interruptOutcome(
  tx: Queries,
  ref: SessionRef,
  head: Head,
  id: string,
  now: number,
): Promise<OutcomeEnd> {
  if (head.outcome === outcomeStage.pending) {
    const row = await outcomeStore(tx).open(ref.tenant, ref.session)
    if (row.id > outcomeIdOf(id)) return { entries: [], head }
  }
  const explanation = 'The work was interrupted.'
  return endOutcome(tx, ref, head, { result: 'interrupted', explanation }, now)
}

/** `needs_revision` begins the next iteration; every other result ends the outcome. */
export async function endEvaluation(
  tx: Queries,
  ref: SessionRef,
  row: OutcomeRow,
  { result, explanation }: { result: EvaluationResult; explanation: string },
  now: number,
): Promise<LogEntry> {
  const { id: outcome_id, iteration, start_id } = row
  const after =
    result === 'needs_revision'
      ? { result: 'running' as const, iteration: iteration + 1 }
      : { result, completed_at: iso(now) }
  await outcomeStore(tx).update(row, { ...after, explanation, start_id: null })
  const usage = start_id === null ? noUsage : await usageOf(tx, ref, start_id)
  const start = { outcome_evaluation_start_id: start_id ?? '' }
  const event = {
    id: newId('event'),
    type: 'span.outcome_evaluation_end',
    ...start,
    outcome_id,
    iteration,
    result,
    explanation,
    usage,
  } as const
  return { event }
}

/** More requests than one evaluation makes. */
const mostRequests = 1_000

/** Sum of the usage of the grader's requests since the evaluation began, including those of a process that died. */
async function usageOf(
  db: Reads,
  { tenant, session }: SessionRef,
  startId: string,
): Promise<Usage> {
  const range = { types: ['aux.model_call'], order: 'desc', limit: mostRequests } as const
  const sum = { ...noUsage }
  for (const row of await readEvents(db, tenant, session, range)) {
    const event = eventOf(row)
    if (event.type !== 'aux.model_call' || event.outcome_evaluation_start_id !== startId) break
    for (const name of Object.keys(noUsage) as (keyof Usage)[]) sum[name] += event.model_usage[name]
  }
  return sum
}
