/** The effect of a turn's end on the outcome that the turn works towards. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { Head, HeadChange } from '../../../sessions/log/head.ts'
import { isAtBudget } from '../../../sessions/log/head.ts'
import type { OutcomeEnd } from '../../../sessions/events/end-outcome.ts'
import { endOutcome, interruptOutcome } from '../../../sessions/events/end-outcome.ts'
import type { LogEntry, PromotedMessage } from '../../../sessions/log/log.ts'
import { hasOpenOutcome, outcomeStage } from '../../../sessions/log/outcome-stage.ts'
import type { WorkNotice } from '../../../sessions/log/topics.ts'

/** `interruptedBy`: id of the newest interrupt that the turn's end settles. */
export type TurnEffects = {
  stop: StopReason
  entries: (LogEntry | PromotedMessage)[]
  interruptedBy?: string
}

/** `isJudged`: the session stays running, and the grader judges the work. */
type OutcomeEffects = OutcomeEnd & {
  isJudged: boolean
  set: Pick<HeadChange, 'outcome' | 'halted'>
}

const why: Partial<Record<StopReason['type'], string>> = {
  retries_exhausted: 'The turn of the agent failed; session.error says why.',
  refusal: 'The model declined to go on.',
}

/** Does nothing without an open outcome. At a reached budget the evaluation waits, as a turn does. */
export async function outcomeAfter(
  tx: Queries,
  ref: WorkNotice,
  head: Head,
  { stop, interruptedBy }: TurnEffects,
  now: number,
): Promise<OutcomeEffects> {
  const none = { isJudged: false, set: {} }
  if (!hasOpenOutcome(head)) return { ...none, entries: [], head }
  if (interruptedBy !== undefined)
    return { ...none, ...(await interruptOutcome(tx, ref, head, interruptedBy, now)) }
  if (head.outcome === outcomeStage.pending) return { ...none, entries: [], head }
  if (stop.type === 'end_turn') {
    const set = { outcome: outcomeStage.evaluating, ...(isAtBudget(head) && { halted: 1 }) }
    return { isJudged: true, entries: [], head, set }
  }
  const explanation = why[stop.type]
  if (explanation === undefined) return { ...none, entries: [], head }
  const end = { result: 'failed', explanation } as const
  return { ...none, ...(await endOutcome(tx, ref, head, end, now)) }
}
