/**
 * Checks a claim token against the stored work item each time it is used. [auth/claim-token/checked-live]
 * [auth/claim-token/opens]
 */
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { ClaimTokens } from '../../ground/core/security/claim-token.ts'
import { unauthorized } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { getHeadForUpdate } from '../log/head.ts'
import type { ClaimPrincipal, WithinClaim } from '../../ground/http/principal.ts'
import type { Ground } from '../../ground/ground.ts'
import type { WorkItem } from './item.ts'
import { claimState } from './item.ts'
import { workStore } from './store.ts'

type ClaimIdentity = Pick<
  ClaimPrincipal,
  'tenant' | 'environmentId' | 'sessionId' | 'workId' | 'generation'
>

/** The state of the claim in the stored item. Undefined when the session has no such item. */
async function claimStateOf(
  { databases, clock }: Ground,
  { tenant, environmentId, sessionId, workId, generation }: ClaimIdentity,
): Promise<ClaimPrincipal['claimState'] | undefined> {
  const { read } = await databases.open(tenant)
  const item = await workStore(read).find(tenant, environmentId, workId)
  return item?.session_id === sessionId ? claimState(item, generation, clock.now()) : undefined
}

/** True when the claim is current. */
export const isCurrentClaim = async (deps: Ground, claim: ClaimIdentity): Promise<boolean> =>
  (await claimStateOf(deps, claim)) === 'current'

export const claimReader =
  (deps: Ground & { claimTokens: ClaimTokens }) =>
  async (token: string): Promise<ClaimPrincipal | undefined> => {
    const claim = deps.claimTokens.read(token)
    if (!claim) return undefined
    const { tenant, environment, session, work, generation } = claim
    const ids = { environmentId: environment, sessionId: session, workId: work }
    const found = await claimStateOf(deps, { tenant, generation, ...ids })
    return found && { kind: 'claim', tenant, generation, claimState: found, ...ids }
  }

/**
 * Checks the claim within the transaction that writes for it, and throws when the claim was lost. A claim that writes
 * resets the count of attempts. Locks the session's head before the item, the order that all code follows.
 */
export async function checkWritingClaim(
  tx: Queries,
  claim: ClaimPrincipal,
  now: number,
): Promise<void> {
  const item = await lockCurrentItem(tx, claim, now)
  if (item.attempts === 0) return
  await workStore(tx).change(item, { attempts: 0, left_first_ms: null, left_last_ms: null })
}

/**
 * Like `checkWritingClaim`, but keeps the count of attempts. For requests before and after the work itself: a worker
 * that fails after them has failed.
 */
export const checkClaim = async (tx: Queries, claim: ClaimPrincipal, now: number): Promise<void> =>
  void (await lockCurrentItem(tx, claim, now))

async function lockCurrentItem(
  tx: Queries,
  { tenant, environmentId, sessionId, workId, generation }: ClaimPrincipal,
  now: number,
): Promise<WorkItem> {
  await getHeadForUpdate(tx, tenant, sessionId)
  const item = await workStore(tx).findForShare(tenant, environmentId, workId)
  if (!item || claimState(item, generation, now) !== 'current')
    throw unauthorized('the claim has ended, or another has it now')
  return item
}

/** Resources of the claimed session. */
export type ClaimedContents = {
  agent: (tenant: string, session: string) => Promise<SessionAgent>
  /** The attached memory stores. */
  stores: (
    tenant: string,
    session: string,
  ) => Promise<readonly { id: string; access: 'read_write' | 'read_only' }[]>
  /** True when the file is attached to the session. */
  hasFile: (tenant: string, session: string, file: string) => Promise<boolean>
}

export function withinClaim({ agent, stores, hasFile }: ClaimedContents): WithinClaim {
  return async (claim, scope, params) => {
    const { tenant, sessionId: session } = claim
    const id = params['id'] ?? ''
    switch (scope) {
      case 'work':
        return id === claim.environmentId && params['work'] === claim.workId
      case 'session':
      case "session's stores":
        return (params['id'] ?? params['session_id']) === session
      case 'file':
        return hasFile(tenant, session, id)
      case 'skill': {
        const { skills } = await agent(tenant, session)
        return skills.some(({ skill_id }) => skill_id === id)
      }
      case 'store':
      case 'store write': {
        const attached = (await stores(tenant, session)).find((store) => store.id === id)
        return attached !== undefined && (scope === 'store' || attached.access === 'read_write')
      }
    }
  }
}
