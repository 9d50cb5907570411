/** What a process tells of the turns that it runs. */
import { observation } from '@steward/base/observation.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { EvaluationResult } from '@steward/protocol/outcomes.ts'

export type BegunTurn = {
  session: string
  /** The agent's name. */
  agent: string
  provider: string
  model: string
}

/** Told when everything that a turn needs is there, and before its first request. */
export const turnBegun = observation<BegunTurn>('turn-begun')

export type EndedTurn = {
  session: string
  /** `left`: the server stops, and another process goes on. `lost`: another process has taken the session over. */
  stop: StopReason['type'] | 'left' | 'lost'
  /** From the first step of the turn until its end is stored. */
  ms: number
}

export const turnEnded = observation<EndedTurn>('turn-ended')

export type EndedEvaluation = {
  /** `left` and `lost` as for a turn. `budget_reached`: the evaluation goes on when the budget allows more. */
  result: EvaluationResult | 'budget_reached' | 'left' | 'lost'
  ms: number
}

/** Told when the grader has ended, and before its verdict is stored. */
export const evaluationEnded = observation<EndedEvaluation>('evaluation-ended')
