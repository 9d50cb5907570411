/** Observations of the turns that a process runs. */
import { createObservation } from '@steward/base/observation.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { EvaluationResult } from '@steward/protocol/outcomes.ts'

export type BegunTurn = {
  session: string
  /** The agent's name. */
  agent: string
  provider: string
  model: string
}

/** Published when a turn is assembled, before its first model request. */
export const turnBegun = createObservation<BegunTurn>('turn-begun')

export type EndedTurn = {
  session: string
  /** `left`: the server stops, and another process goes on. `lost`: another process has taken the session over. */
  stop: StopReason['type'] | 'left' | 'lost'
  /** Time from the first step of the turn until its end is stored. */
  ms: number
}

export const turnEnded = createObservation<EndedTurn>('turn-ended')

export type EndedEvaluation = {
  /** `left` and `lost` as for a turn. `budget_reached`: the evaluation goes on when the budget allows more. */
  result: EvaluationResult | 'budget_reached' | 'left' | 'lost'
  ms: number
}

/** Published when the grader has ended, before its verdict is stored. */
export const evaluationEnded = createObservation<EndedEvaluation>('evaluation-ended')
