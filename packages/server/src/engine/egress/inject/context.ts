/** The context that all calls of one session share: lease, rules, connections, and refusals that were not shown yet. */
import type { GateRefusal, GateTarget } from '@steward/gate/outbound.ts'
import type { TurnNotice } from '@steward/harness/turn.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { Connector } from '../../../ground/core/security/dial.ts'
import type { RuledEnvironment } from '../policy/rules.ts'
import { refusalError, createEgressRules } from '../policy/rules.ts'
import type { SessionCredentials, SessionNow } from '../policy/store.ts'
import type { UpstreamPool } from './upstream.ts'
import { createUpstream } from './upstream.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

/** Largest number of refusals, and of notices, that wait for the next tool result. */
const mostWaiting = 100

/** A worker's claim. */
export type ClaimRef = { environmentId: string; workId: string; generation: number }

/** The session and lease for which calls leave. Holds no secret: each call reads the session's credentials. */
export type OutboundLease = {
  tenant: string
  session: string
  environment: EnvironmentRecord
  /** The generation of the run lease that owns the sandbox. Null for a caller with its own key, and for a claim. */
  generation: number | null
  claim?: ClaimRef
}

/** As much of a lease as decides. */
export type RuledLease = Omit<OutboundLease, 'environment'> & { environment: RuledEnvironment }

export type ContextDeps = {
  connect: Connector<'tenant'>
  operatorConnect: Connector<'operator'>
  /** Reads with one query. Undefined when the session does not exist. */
  read: (tenant: string, session: string) => Promise<SessionNow | undefined>
  holdsClaim: (lease: SessionRef, claim: ClaimRef) => Promise<boolean>
  /** Called once, when the context is revoked. */
  ended: () => void
}

export type OutboundContext = ReturnType<typeof outboundContext>

/** The lists of `environment` do not change for the life of the context. */
export function outboundContext(lease: RuledLease, deps: ContextDeps) {
  const { tenant, session, environment, claim } = lease
  const pool: UpstreamPool = {
    tenant: createUpstream(deps.connect),
    operator: createUpstream(deps.operatorConnect),
  }
  const refusals: GateRefusal[] = []
  const notices: TurnNotice[] = []
  let { generation } = lease
  let isRevoked = false

  const fenced = (target: GateTarget) =>
    refusalError(
      target,
      'fenced',
      generation === null && !claim
        ? 'the session is archived or deleted'
        : 'the session no longer holds the sandbox that this call comes from',
    )

  async function readLease(target: GateTarget): Promise<[SessionNow | undefined, boolean]> {
    try {
      const holdsClaim = claim ? deps.holdsClaim(lease, claim) : true
      return await Promise.all([deps.read(tenant, session), holdsClaim])
    } catch (cause) {
      const message = 'the credentials of the session could not be read'
      throw Object.assign(refusalError(target, 'vault', message), { cause })
    }
  }

  return {
    tenant,
    session,
    rules: createEgressRules(environment),
    /** The connections of this session alone, by who names the endpoint. */
    pool,

    /** The credentials that the session holds now. Throws `RequestRefused` when the lease is lost. */
    async readCredentials(target: GateTarget): Promise<SessionCredentials> {
      if (isRevoked) throw fenced(target)
      const [now, isClaimed] = await readLease(target)
      const holds = isClaimed && (generation === null || now?.generation === generation)
      if (!now || now.isOver || !holds || isRevoked) throw fenced(target)
      return now
    },

    /** Keeps a refusal until the next tool result. */
    note(refusal: GateRefusal): void {
      if (refusals.length < mostWaiting) refusals.push(refusal)
    },
    /** Keeps a notice about a call that was sent. */
    notify(notice: TurnNotice): void {
      if (notices.length < mostWaiting) notices.push(notice)
    },
    takeRefusals: (): GateRefusal[] => refusals.splice(0),
    takeNotices: (): TurnNotice[] => notices.splice(0),

    /** Call after this process has claimed the session again. */
    renew(next: number): void {
      generation = next
    },
    /** Refuses every later call and ends running calls. */
    revoke(): void {
      if (isRevoked) return
      isRevoked = true
      deps.ended()
      for (const each of [pool.tenant, pool.operator]) void each.close()
    },
    get isRevoked() {
      return isRevoked
    },
  }
}
