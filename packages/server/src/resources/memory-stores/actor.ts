import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { actorOf, isSubject, personIdOf } from '../../ground/http/principal.ts'

/** The author of memories that a caller writes. */
export function toMemoryActor({ principal }: { principal: Principal }): MemoryActor {
  if (principal.kind === 'claim') return { type: 'session_actor', session_id: principal.sessionId }
  const person = personIdOf(principal)
  if (person !== undefined) return { type: 'user_actor', user_id: person }
  if (isSubject(principal)) return { type: 'user_actor', user_id: actorOf(principal) }
  return { type: 'api_actor', api_key_id: 'keyId' in principal ? principal.keyId : '' }
}
