/** What a worker's token stands for at the moment it is used, and what it covers. [auth/claim-token/checked-live] [auth/claim-token/opens] */
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { ClaimTokens } from '../../ground/core/claim-token.ts'
import { unauthorized } from '../../ground/core/errors.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases, Queries } from '../../ground/database/database.ts'
import { lockHead } from '../log/head.ts'
import type { ClaimPrincipal, WithinClaim } from '../../ground/http/principal.ts'
import type { WorkItem } from './item.ts'
import { claimState } from './item.ts'
import { workStore } from './store.ts'

type Deps = { databases: Databases; clock: Clock; claimTokens: ClaimTokens }
type Named = Pick<
  ClaimPrincipal,
  'tenant' | 'environmentId' | 'sessionId' | 'workId' | 'generation'
>

/** How a claim stands as the stored item has it at this moment; undefined where there is no such item of its session. */
async function claimStateOf(
  { databases, clock }: Pick<Deps, 'databases' | 'clock'>,
  { tenant, environmentId, sessionId, workId, generation }: Named,
): Promise<ClaimPrincipal['claimState'] | undefined> {
  const { read } = await databases.open(tenant)
  const item = await workStore(read).find(tenant, environmentId, workId)
  return item?.session_id === sessionId ? claimState(item, generation, clock.now()) : undefined
}

/** Whether the claim is still its owner's. */
export const stands = async (
  deps: Pick<Deps, 'databases' | 'clock'>,
  claim: Named,
): Promise<boolean> => (await claimStateOf(deps, claim)) === 'current'

export const claimReader =
  (deps: Deps) =>
  async (token: string): Promise<ClaimPrincipal | undefined> => {
    const claim = deps.claimTokens.read(token)
    if (!claim) return undefined
    const { tenant, environment, session, work, generation } = claim
    const ids = { environmentId: environment, sessionId: session, workId: work }
    const found = await claimStateOf(deps, { tenant, generation, ...ids })
    return found && { kind: 'claim', tenant, generation, claimState: found, ...ids }
  }

/**
 * Within the transaction that writes for it: a claim that was lost since is refused, and one that writes has not been
 * taken up in vain. Takes the session's head first, as everyone does who needs both.
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

/** As `checkWritingClaim`, for what a worker does before and after its work: it may come to that and no further each time. */
export const checkClaim = async (tx: Queries, claim: ClaimPrincipal, now: number): Promise<void> =>
  void (await lockCurrentItem(tx, claim, now))

async function lockCurrentItem(
  tx: Queries,
  { tenant, environmentId, sessionId, workId, generation }: ClaimPrincipal,
  now: number,
): Promise<WorkItem> {
  await lockHead(tx, tenant, sessionId)
  const item = await workStore(tx).hold(tenant, environmentId, workId)
  if (!item || claimState(item, generation, now) !== 'current')
    throw unauthorized('the claim has ended, or another has it now')
  return item
}

/** What belongs to the claimed session. */
export type ClaimedContents = {
  agent: (tenant: string, session: string) => Promise<SessionAgent>
  /** Memory stores that are attached to it. */
  stores: (
    tenant: string,
    session: string,
  ) => Promise<readonly { id: string; access: 'read_write' | 'read_only' }[]>
  /** Whether a file lies in it. */
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
