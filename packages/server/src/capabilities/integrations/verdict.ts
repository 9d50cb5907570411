/** What becomes of an answer after an attempt to deliver it. */
import { backoffMs } from '../../tenants/webhooks/verdict.ts'
import type { AnswerOutcome, AnswerVerdict, Attempt } from './integration.ts'

export const mostAttempts = 8
/** A receiver that asks for a longer wait is tried after this one. */
const longestWaitMs = 60 * 60_000

export function answerVerdict(
  outcome: AnswerOutcome,
  { begun, random, nowMs }: Attempt,
): AnswerVerdict {
  const status = 'status' in outcome ? outcome.status : 0
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 401 || status === 403) return { kind: 'needs_reauth' }
  const passes = status === 0 || status === 408 || status === 429 || status >= 500
  if (!passes || begun >= mostAttempts) return { kind: 'failed' }
  const asked = 'retryAfter' in outcome ? waitOf(outcome.retryAfter, nowMs) : 0
  return { kind: 'again', afterMs: Math.max(backoffMs(begun, random), asked) }
}

/** `Retry-After` holds seconds or a date; anything else asks for no wait. */
function waitOf(header: string | null, nowMs: number): number {
  if (header === null) return 0
  const waitMs = /^[0-9]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(0, waitMs), longestWaitMs)
}
