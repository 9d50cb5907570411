import type { RequestObjection } from './heads.ts'
import type { GateOwner, Target } from './outbound.ts'
import { Refused } from './outbound.ts'
import type { GateAnswer } from './said.ts'
import { sayFailed, sayRefused } from './said.ts'

export type Objections = ReturnType<typeof objections>

/** Every refusal passes here, so that the owner is notified of each exactly once. */
export function objections(owner: GateOwner) {
  const saying = (objection: RequestObjection): GateAnswer => {
    if ('said' in objection) return objection.said
    owner.refused(objection.refusal)
    return sayRefused(objection.refusal)
  }
  return {
    /** The answer to send. */
    saying,
    /** The answer to send after the owner has thrown. */
    sayingWhy: (target: Target, error: unknown): GateAnswer =>
      error instanceof Refused ? saying({ refusal: error.refusal }) : sayFailed(target, error),
    /** Throws `Refused`. */
    async judge(target: Target): Promise<'read' | 'tunnel'> {
      const verdict = await owner.judge(target)
      if (verdict.kind !== 'refuse') return verdict.kind
      const { reason, message } = verdict
      throw new Refused({ ...target, reason, message })
    },
  }
}
