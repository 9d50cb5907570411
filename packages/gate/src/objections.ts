import type { RequestObjection } from './heads.ts'
import type { GateOwner, GateTarget } from './outbound.ts'
import { RequestRefused } from './outbound.ts'
import type { GateAnswer } from './gate-answers.ts'
import { failureAnswer, refusalAnswer } from './gate-answers.ts'

export type ObjectionReporter = ReturnType<typeof createObjectionReporter>

/** Every refusal passes here, so that the owner is notified of each exactly once. */
export function createObjectionReporter(owner: GateOwner) {
  const answerTo = (objection: RequestObjection): GateAnswer => {
    if ('answer' in objection) return objection.answer
    owner.refused(objection.refusal)
    return refusalAnswer(objection.refusal)
  }
  return {
    /** The answer to send. */
    answerTo,
    /** The answer to send after the owner has thrown. */
    answerToError: (target: GateTarget, error: unknown): GateAnswer =>
      error instanceof RequestRefused
        ? answerTo({ refusal: error.refusal })
        : failureAnswer(target, error),
    /** Throws `RequestRefused`. */
    async judge(target: GateTarget): Promise<'read' | 'tunnel'> {
      const verdict = await owner.judge(target)
      if (verdict.kind !== 'refuse') return verdict.kind
      const { reason, message } = verdict
      throw new RequestRefused({ ...target, reason, message })
    },
  }
}
