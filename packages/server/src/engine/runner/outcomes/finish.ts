/** Evaluates the work of a session, and ends that in one commit: the result, and what the session does next. */
import type { SessionFailure } from '@steward/protocol/events.ts'
import { releasedLease } from '../../../ground/database/lease.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { heavyBytes } from '../../../ground/core/fairness/event-loop.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { endEvaluation } from '../../../sessions/events/end-outcome.ts'
import type { Head } from '../../../sessions/log/head.ts'
import { isAtBudget, stateOf } from '../../../sessions/log/head.ts'
import { idleEntries } from '../../../sessions/log/idle.ts'
import type { InboxItem } from '../../../sessions/log/inbox.ts'
import { findThreadForUpdate } from '../../../sessions/log/threads/team.ts'
import { bytesWaiting, takeWaiting, readWaiting } from '../../../sessions/log/inbox.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import { outcomeStage } from '../../../sessions/log/outcome-stage.ts'
import { outcomeStore } from '../../../sessions/rows/outcomes.ts'
import type { EvaluationVerdict, Judgement } from './evaluation.ts'
import { evaluateOutcome } from './evaluation.ts'
import type { EvaluationStep } from './start.ts'
import type { ThreadDeps, TurnSignals } from '../turn-deps.ts'
import { isInterrupt } from '../interrupts.ts'
import type { SessionLease, Step } from '../steps.ts'
import { announceBudget } from '../announce-budget.ts'
import {
  beginTurn,
  endTurn,
  toLogEntry,
  isHeld,
  nextStep,
  promoteMessages,
  settleInterrupt,
  writeStep,
} from '../steps.ts'

export async function finishEvaluation(
  tx: Queries,
  lease: SessionLease,
  judgement: Judgement,
  now: number,
): Promise<Step> {
  const { tenant, session } = lease
  const head = await findThreadForUpdate(tx, lease)
  if (!head || !isHeld(head, lease.fence)) return { kind: 'lost' }
  const queue = await readWaiting(tx, tenant, session)
  if (stateOf(head) === 'deleted') return nextStep(tx, lease, { now, claimed: false })
  if (queue.some(isInterrupt))
    return settleInterrupt(tx, lease, { head, open: [], queue, left: [] }, now)
  if (judgement.kind === 'verdict') return judged(tx, lease, head, queue, judgement, now)
  if (isAtBudget(head)) return halt(tx, lease, head, now)
  // The budget was raised meanwhile, or the interrupt is settled: judge the work again.
  return nextStep(tx, lease, { now, claimed: false })
}

/** Stops at the budget. The evaluation continues when the budget is raised. */
async function halt(tx: Queries, lease: SessionLease, head: Head, now: number): Promise<Step> {
  const told = await announceBudget(tx, lease, head, { type: 'budget_reached' }, now)
  const rest = { due: false, halted: 1 as const, ...told, ...releasedLease }
  const entries = idleEntries(head, { type: 'budget_reached' }, now)
  return writeStep(tx, lease, head, entries, rest, now, { kind: 'rest' })
}

async function judged(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  queue: readonly InboxItem[],
  { result: found, explanation, hasError, error }: EvaluationVerdict,
  now: number,
): Promise<Step> {
  const { tenant, session } = lease
  const row = await outcomeStore(tx).open(tenant, session)
  const isLast = row.iteration + 1 >= row.max_iterations
  const result = found === 'needs_revision' && isLast ? 'max_iterations_reached' : found
  const end = await endEvaluation(tx, lease, row, { result, explanation }, now)
  const ended = { ...head, outcome: outcomeStage.ended }
  if (found === 'needs_revision' && row.inspection === null) {
    // Both the revision and the one closing turn are turns that the session begins by itself.
    const isHeavy = bytesWaiting(head, queue) > heavyBytes
    const messages = isHeavy ? [] : queue
    const taken =
      messages.length > 0
        ? await takeWaiting(tx, tenant, session, messages.at(-1)?.position ?? 0)
        : []
    return beginTurn(tx, lease, { head: ended, entries: [end, ...taken] }, now)
  }
  const stop = hasError ? 'retries_exhausted' : 'end_turn'
  const goesOn = queue.length > 0 && !isAtBudget(head)
  const entries = [...errorEntries(error), end, ...idleEntries(head, { type: stop }, now, goesOn)]
  return goesOn
    ? promoteMessages(tx, lease, ended, { queue, before: entries }, now)
    : endTurn(tx, lease, head, entries, now)
}

const errorEntries = (failure: SessionFailure | undefined): LogEntry[] => {
  if (!failure) return []
  const error = { ...failure, retry_status: { type: 'exhausted' as const } }
  return [toLogEntry({ id: newId('event'), type: 'session.error', error })]
}

/** Evaluates the work, and returns what the session does next; `lost` and `left` as `drainSession` does. */
export async function judgeOutcome(
  deps: ThreadDeps,
  lease: SessionLease,
  evaluation: EvaluationStep,
  signals: TurnSignals,
): Promise<Step | 'lost' | 'left'> {
  const { steps, clock } = deps
  steps.publish()
  const judgement = await evaluateOutcome(deps, lease, evaluation, signals)
  if (typeof judgement === 'string') return judgement
  return steps.database.write((tx) => finishEvaluation(tx, lease, judgement, clock.now()))
}
