/**
 * The names under which providers know conversations, for their prompt caches. They are no ids of sessions: a provider
 * could join such an id with what others know of the session.
 */
import { createHmac } from 'node:crypto'
import { derivedKey } from '../../ground/core/security/signed-tokens.ts'

export type NameConversation = (cacheKey: string) => string

/** Providers take 64 characters at most. */
const nameLength = 32

/** The same in all processes, and after a restart. `sendsIds`: the operator wants the ids themselves. */
export function conversationNames({
  rootSecret,
  modelSessionIds: sendsIds,
}: {
  rootSecret: string
  modelSessionIds: boolean
}): NameConversation {
  if (sendsIds) return (cacheKey) => cacheKey
  const key = derivedKey(rootSecret, 'conversations at providers')
  return (cacheKey) =>
    createHmac('sha256', key).update(cacheKey).digest('base64url').slice(0, nameLength)
}
