/** What a step finds in its session, for the table of `decision.ts`. */
import type { PendingCall } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { InboxItem } from '../../sessions/log/inbox.ts'
import { outcomeStage } from '../../sessions/log/outcome-stage.ts'
import type { StepFinding } from './decision.ts'
import { isInterrupt } from './interrupts.ts'

export const isUnanswered = ({ state }: PendingCall): boolean =>
  state === 'asked' || state === 'waiting'

export function decideStepFinding(
  open: readonly PendingCall[],
  queue: readonly InboxItem[],
  { outcome }: Head,
): StepFinding {
  if (queue.some(isInterrupt)) return 'interrupt'
  if (open.some(isUnanswered)) return 'unanswered'
  if (open.length > 0) return 'answered'
  if (queue.length > 0) return 'messages'
  return outcome === outcomeStage.pending ? 'outcome' : 'nothing'
}
