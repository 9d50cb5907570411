/** Judges the answer to an attempt: delivered, failed, or to be tried again. */
import { z } from 'zod'
import { beginningOf } from '../context-bounds.ts'
import { parsePayload } from '../deliveries/payload.ts'
import { backoffMs } from '../../../tenants/webhooks/verdict.ts'
import type { AnswerOutcome, AnswerVerdict, Attempt } from '../integration.ts'

export const mostAttempts = 8
/** The longest wait that a receiver gets. */
const longestWaitMs = 60 * 60_000

export function answerVerdict(
  outcome: AnswerOutcome,
  { attempts, random, nowMs }: Attempt,
): AnswerVerdict {
  const { status, retryAfter } = 'status' in outcome ? outcome : { status: 0, retryAfter: null }
  const asked = waitOf(retryAfter, nowMs)
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  const isLimited = isLimit(status, asked)
  if (refusals.includes(status) && !isLimited) return { kind: 'needs_reauth' }
  const passes = isLimited || status >= 500 || silences.includes(status)
  if (!passes || attempts >= mostAttempts) return { kind: 'failed' }
  const afterMs = Math.max(backoffMs(attempts, random), asked ?? 0)
  return { kind: 'again', afterMs, ...(isLimited && { heldMs: asked ?? afterMs }) }
}

const refusals = [401, 403]
/** Statuses without an answer. 0 stands for no answer at all. */
const silences = [0, 408]

/** GitHub also answers too many requests with 403, and then names a time to come back. */
const isLimit = (status: number, asked: number | null): boolean =>
  status === 429 || (status === 403 && asked !== null)

/** `Retry-After` contains seconds or a date. Any other text means no wait. */
function waitOf(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const waitMs = /^[0-9]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(0, waitMs), longestWaitMs)
}

const refusalForm = z.object({ message: z.string().min(1) })

/** Why the receiver has refused, in its own words: the beginning of its message. */
export function refusalReason(outcome: AnswerOutcome): string {
  if (!('status' in outcome)) return outcome.error
  const { data } = refusalForm.safeParse(parsePayload(Buffer.from(outcome.body)))
  return data
    ? `status ${outcome.status}: ${beginningOf(data.message, 300)}`
    : `status ${outcome.status}`
}
