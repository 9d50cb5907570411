/** The step of a session whose work is to be judged. */
import { newEvents, notifySession } from '../../sessions/log/topics.ts'
import { evaluate } from './outcome-evaluation.ts'
import { finishEvaluation } from './outcome-finish.ts'
import type { Evaluation } from './outcome-start.ts'
import type { SessionLease, Step } from './steps.ts'
import type { DrainDeps, Signals } from './turn-deps.ts'

/** Evaluates the work, and returns what the session does next; `lost` and `left` as `drain` does. */
export async function judge(
  deps: DrainDeps,
  place: SessionLease,
  evaluation: Evaluation,
  signals: Signals,
): Promise<Step | 'lost' | 'left'> {
  const { database, bus, clock } = deps
  notifySession(bus, place.session, newEvents)
  const judgement = await evaluate(deps, place, evaluation, signals)
  if (typeof judgement === 'string') return judgement
  return database.write((tx) => finishEvaluation(tx, place, judgement, clock.now()))
}
