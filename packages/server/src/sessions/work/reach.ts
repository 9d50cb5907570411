/**
 * The claim that a request with an environment key acts under, where the key reaches sessions.
 * [auth/environment-key/reach]
 */
import type { ClaimByKey, ClaimPrincipal } from '../../ground/http/principal.ts'
import type { Ground } from '../../ground/ground.ts'
import { claimState } from './item.ts'
import { workStore } from './store.ts'

/**
 * Finds the session for routes that name none. Undefined when no claimed session of the environment has the file or
 * skill.
 */
export type SessionFinder = {
  file: (tenant: string, file: string) => Promise<string | undefined>
  skill: (
    tenant: string,
    environment: string,
    skill: string,
    now: number,
  ) => Promise<string | undefined>
}

/** Undefined unless the session's item is in the key's environment and is claimed now. */
export function claimByKey({ databases, clock }: Ground, sessionWith: SessionFinder): ClaimByKey {
  return async ({ tenant, environmentId, keyId }, scope, params) => {
    const id = params['id'] ?? ''
    const sessionOf: Record<typeof scope, () => string | undefined | Promise<string | undefined>> =
      {
        session: () => params['id'] ?? params['session_id'],
        file: () => sessionWith.file(tenant, id),
        skill: () => sessionWith.skill(tenant, environmentId, id, clock.now()),
      }
    const session = await sessionOf[scope]()
    if (session === undefined) return undefined
    const { read } = await databases.open(tenant)
    const item = await workStore(read).live(tenant, session)
    if (item?.environment_id !== environmentId) return undefined
    const { id: workId, generation } = item
    const found = claimState(item, generation, clock.now())
    if (found === 'stale') return undefined
    const claim: ClaimPrincipal = {
      kind: 'claim',
      tenant,
      environmentId,
      sessionId: session,
      workId,
      generation,
      claimState: found,
      keyId,
    }
    return claim
  }
}
