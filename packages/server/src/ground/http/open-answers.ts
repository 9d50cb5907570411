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
  const keyId = 'keyId' in principal ? principal.keyId : undefined
  if (keyId && !outgoing.destroyed) outgoing.once('close', answers.hold(keyId, end))
}
