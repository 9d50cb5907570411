/** Where the newest outcome of a session stands, as a number in the head that every step reads. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { HeadOutcome } from '../../ground/database/outcome-tables.ts'

/**
 * `none`: no outcome was ever defined. `pending`: the turn that works towards it has not begun. `working`: its turn is judged when it ends.
 * `evaluating`: the work is being judged. `ended`: the session is an ordinary chat again.
 */
export const outcomeStage = { none: 0, pending: 1, working: 2, evaluating: 3, ended: 4 } as const

export const hasOpenOutcome = ({ outcome }: HeadOutcome): boolean =>
  outcome !== outcomeStage.none && outcome !== outcomeStage.ended

/** The stage that an event brings about. */
export function stageAfter(event: NewEvent): number | undefined {
  if (event.type === 'user.define_outcome') return outcomeStage.pending
  if (event.type !== 'span.outcome_evaluation_end') return undefined
  return event.result === 'needs_revision' ? outcomeStage.working : outcomeStage.ended
}
