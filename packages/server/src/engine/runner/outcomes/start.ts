/** Begins an evaluation, or resumes the one that a dead process or a reached budget left. */
import { newId } from '../../../ground/core/text/ids.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { Head } from '../../../sessions/log/head.ts'
import { runningEntries } from '../../../sessions/log/idle.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import type { OutcomeRow } from '../../../sessions/rows/outcomes.ts'
import { outcomeStore } from '../../../sessions/rows/outcomes.ts'
import type { RecoveredTurn } from '../deaths.ts'

/** `outcome` names its evaluation's start event. `isBudgeted` and `recovered`: see `Step`. */
export type EvaluationStep = {
  kind: 'evaluation'
  outcome: OutcomeRow & { start_id: string }
  isBudgeted?: true
  recovered?: RecoveredTurn
}

/** The start event is appended once; an evaluation that goes on keeps it. */
export async function startEvaluation(
  tx: Queries,
  row: OutcomeRow,
  head: Head,
): Promise<{ entries: LogEntry[]; evaluation: EvaluationStep }> {
  const start_id = row.start_id ?? newId('event')
  const outcome = { ...row, start_id }
  const entries: LogEntry[] = head.status === 'running' ? [] : runningEntries(head)
  if (row.start_id === null) {
    await outcomeStore(tx).update(row, { result: 'evaluating', start_id })
    const { id: outcome_id, iteration } = row
    const type = 'span.outcome_evaluation_start'
    entries.push({ event: { id: start_id, type, outcome_id, iteration } })
  }
  return { entries, evaluation: { kind: 'evaluation', outcome } }
}
