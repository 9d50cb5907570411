import type { ServerResponse } from 'node:http'
import type { Principal } from './principal.ts'

/** The answers that go on after their request was admitted, by the key that asked for them. */
export type OpenAnswers = {
  /** Calls `end` when the key has ended. The returned function forgets the answer. */
  hold(keyId: string, end: () => void): () => void
  /** The keys that have an answer open. */
  keyIds(): string[]
  /** Ends all answers of the key. */
  endAll(keyId: string): void
}

export function createOpenAnswers(): OpenAnswers {
  const byKey = new Map<string, Set<() => void>>()
  return {
    hold(keyId, end) {
      const ends = byKey.get(keyId) ?? new Set()
      byKey.set(keyId, ends.add(end))
      return () => {
        ends.delete(end)
        if (ends.size === 0 && byKey.get(keyId) === ends) byKey.delete(keyId)
      }
    },
    keyIds: () => [...byKey.keys()],
    endAll(keyId) {
      const ends = byKey.get(keyId) ?? []
      byKey.delete(keyId)
      for (const end of ends) end()
    },
  }
}

/** Calls `end` when the caller's key ends before the answer does: whoever stole a key reads nothing after its revocation. */
export function holdOpen(
  answers: Pick<OpenAnswers, 'hold'>,
  { outgoing, principal, end }: { outgoing: ServerResponse; principal: Principal; end: () => void },
): void {
  const keyId = heldBy(principal)
  if (keyId && !outgoing.destroyed) outgoing.once('close', answers.hold(keyId, end))
}

/** A person's answers stand under the sign-in and the workspace, because either may end. */
export const signInAnswerKey = (signInId: string, tenant: string): string => `${signInId} ${tenant}`

/** The sign-in and the workspace of such an id; undefined for the id of a key. */
export function readSignInAnswerKey(id: string): { signInId: string; tenant: string } | undefined {
  const [signInId, tenant] = id.split(' ')
  return signInId === undefined || tenant === undefined ? undefined : { signInId, tenant }
}

function heldBy(principal: Principal): string | undefined {
  if (principal.kind === 'user') return signInAnswerKey(principal.signInId, principal.tenant)
  return 'keyId' in principal ? principal.keyId : undefined
}
