/** The step of a session whose work is to be judged. */
import { announceChange } from '../../sessions/log/topics.ts'
import { evaluateOutcome } from './outcome-evaluation.ts'
import { finishEvaluation } from './outcome-finish.ts'
import type { EvaluationStep } from './outcome-start.ts'
import type { SessionLease, Step } from './steps.ts'
import type { DrainDeps, TurnSignals } from './turn-deps.ts'

/** Evaluates the work, and returns what the session does next; `lost` and `left` as `drain` does. */
export async function judgeOutcome(
  deps: DrainDeps,
  place: SessionLease,
  evaluation: EvaluationStep,
  signals: TurnSignals,
): Promise<Step | 'lost' | 'left'> {
  const { database, bus, clock } = deps
  announceChange(bus, place.tenant, place.session)
  const judgement = await evaluateOutcome(deps, place, evaluation, signals)
  if (typeof judgement === 'string') return judgement
  return database.write((tx) => finishEvaluation(tx, place, judgement, clock.now()))
}
