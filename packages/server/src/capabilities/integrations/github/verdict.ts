/** Judges answers of GitHub, which refuses single threads with the status of a refused credential. */
import { refusalReason, answerVerdict } from '../answers/verdict.ts'
import type { AnswerOutcome, AnswerVerdict, Attempt } from '../integration.ts'

/** The messages of a 403 that concern the whole installation. */
const ofInstallation = /suspended|bad credentials/i

/**
 * A locked conversation, or a permission that the app lacks, is answered with 403 too: then only this telling fails.
 */
export function judgeGithubAnswer(outcome: AnswerOutcome, attempt: Attempt): AnswerVerdict {
  const verdict = answerVerdict(outcome, attempt)
  if (verdict.kind !== 'needs_reauth' || !('status' in outcome) || outcome.status === 401)
    return verdict
  return ofInstallation.test(refusalReason(outcome)) ? verdict : { kind: 'failed' }
}
