import type { ServerResponse } from 'node:http'
import type { Principal } from './principal.ts'

/** Long answers that are being sent, by the key of their caller. */
export type OpenAnswers = {
  /** Adds an answer. `end` is called when the key is revoked. The returned function removes the answer. */
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

/** Calls `end` when the caller's key is revoked during the answer: a stolen key reads nothing after its revocation. */
export function holdOpen(
  answers: OpenAnswers,
  { outgoing, principal, end }: { outgoing: ServerResponse; principal: Principal; end: () => void },
): void {
  const keyId = heldBy(principal)
  if (keyId && !outgoing.destroyed) outgoing.once('close', answers.hold(keyId, end))
}

/** The key of a person's answers: sign-in and workspace, because the right to either may end. */
export const signInAnswerKey = (signInId: string, tenant: string): string => `${signInId} ${tenant}`

/** The key of the answers to a token of an identity provider. */
const tokenAnswerKey = (hash: string, tenant: string): string => `token ${hash} ${tenant}`

/** Whose answers a key names. */
export type AnswerHolder =
  | { kind: 'key' }
  | { kind: 'sign-in'; signInId: string; tenant: string }
  | { kind: 'token'; hash: string; tenant: string }

export function readAnswerHolder(id: string): AnswerHolder {
  const [first = '', second, third] = id.split(' ')
  if (second === undefined) return { kind: 'key' }
  return third === undefined
    ? { kind: 'sign-in', signInId: first, tenant: second }
    : { kind: 'token', hash: second, tenant: third }
}

function heldBy(principal: Principal): string | undefined {
  if (principal.kind === 'user') return signInAnswerKey(principal.signInId, principal.tenant)
  if (principal.kind === 'subject') return tokenAnswerKey(principal.tokenHash, principal.tenant)
  return 'keyId' in principal ? principal.keyId : undefined
}
