/** The stage of a session's newest outcome, as a number in the head, which every step reads. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { HeadOutcome } from '../../ground/database/tables/outcomes.ts'

/**
 * `none`: no outcome was ever defined. `pending`: no turn works towards the outcome yet. `working`: the turn is judged
 * when it ends. `evaluating`: the grader judges the work. `ended`: turns are no longer judged.
 */
export const outcomeStage = { none: 0, pending: 1, working: 2, evaluating: 3, ended: 4 } as const

export const hasOpenOutcome = ({ outcome }: HeadOutcome): boolean =>
  outcome !== outcomeStage.none && outcome !== outcomeStage.ended

/** The stage after this event; undefined when the event does not change it. */
export function stageAfter(event: NewEvent): number | undefined {
  if (event.type === 'user.define_outcome') return outcomeStage.pending
  if (event.type !== 'span.outcome_evaluation_end') return undefined
  return event.result === 'needs_revision' ? outcomeStage.working : outcomeStage.ended
}
