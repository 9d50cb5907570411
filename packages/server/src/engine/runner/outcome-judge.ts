/** The step of a session whose work is to be judged. */
import { evaluateOutcome } from './outcome-evaluation.ts'
import { finishEvaluation } from './outcome-finish.ts'
import type { EvaluationStep } from './outcome-start.ts'
import type { SessionLease, Step } from './steps.ts'
import type { ThreadDeps, TurnSignals } from './turn-deps.ts'

/** Evaluates the work, and returns what the session does next; `lost` and `left` as `drain` does. */
export async function judgeOutcome(
  deps: ThreadDeps,
  place: SessionLease,
  evaluation: EvaluationStep,
  signals: TurnSignals,
): Promise<Step | 'lost' | 'left'> {
  const { steps, clock } = deps
  steps.publish()
  const judgement = await evaluateOutcome(deps, place, evaluation, signals)
  if (typeof judgement === 'string') return judgement
  return steps.database.write((tx) => finishEvaluation(tx, place, judgement, clock.now()))
}
