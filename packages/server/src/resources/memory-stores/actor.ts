import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import type { Principal } from '../../ground/http/principal.ts'

/** The author of memories that a caller writes. */
export function toMemoryActor({ principal }: { principal: Principal }): MemoryActor {
  if (principal.kind === 'claim') return { type: 'session_actor', session_id: principal.sessionId }
  if (principal.kind === 'user') return { type: 'user_actor', user_id: principal.userId }
  if (principal.kind === 'subject') return { type: 'user_actor', user_id: principal.subjectId }
  return { type: 'api_actor', api_key_id: 'keyId' in principal ? principal.keyId : '' }
}
