/** What every call of one session stands on: its lease, its rules, its pool of connections, and its refusals. */
import type { Refusal, Target } from '@steward/gate/outbound.ts'
import type { Notice } from '@steward/harness/turn.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { Connector } from '../../../ground/core/dial.ts'
import { refused, rulesOf } from '../policy/rules.ts'
import type { SessionCredentials, SessionNow } from '../policy/store.ts'
import type { UpstreamPool } from './upstream.ts'
import { upstream } from './upstream.ts'

/** Refusals, and notices, that wait for the next result. */
const mostWaiting = 100

/** The claim of a worker. */
export type ClaimRef = { environmentId: string; workId: string; generation: number }

/** For which session calls go out, and for how long. It holds no secret: a call reads the session's credentials anew. */
export type OutboundLease = {
  tenant: string
  session: string
  environment: EnvironmentRecord
  /** The run lease that the sandbox belongs to; null for a caller with a key of its own, and where a claim holds. */
  generation: number | null
  claim?: ClaimRef
}

export type ContextDeps = {
  connect: Connector<'tenant'>
  operatorConnect: Connector<'operator'>
  /** One query. Undefined when there is no such session. */
  read: (tenant: string, session: string) => Promise<SessionNow | undefined>
  holdsClaim: (lease: OutboundLease, claim: ClaimRef) => Promise<boolean>
  /** Called once, when the context is revoked. */
  ended: () => void
}

export type OutboundContext = ReturnType<typeof outboundContext>

/** `environment`: its lists stay as they are given here. */
export function outboundContext(lease: OutboundLease, deps: ContextDeps) {
  const { tenant, session, environment, claim } = lease
  const pool: UpstreamPool = {
    tenant: upstream(deps.connect),
    operator: upstream(deps.operatorConnect),
  }
  const refusals: Refusal[] = []
  const notices: Notice[] = []
  let { generation } = lease
  let isRevoked = false

  const fenced = (target: Target) =>
    refused(
      target,
      'fenced',
      generation === null && !claim
        ? 'the session is archived or deleted'
        : 'the session no longer holds the sandbox that this call comes from',
    )

  async function readLease(target: Target): Promise<[SessionNow | undefined, boolean]> {
    try {
      const holdsClaim = claim ? deps.holdsClaim(lease, claim) : true
      return await Promise.all([deps.read(tenant, session), holdsClaim])
    } catch (cause) {
      const message = 'the credentials of the session could not be read'
      throw Object.assign(refused(target, 'vault', message), { cause })
    }
  }

  return {
    tenant,
    session,
    rules: rulesOf(environment),
    /** Connections of this session alone, by who names the endpoint. */
    pool,

    /** What the session holds now. Throws `Refused` when the lease is lost. */
    async readCredentials(target: Target): Promise<SessionCredentials> {
      if (isRevoked) throw fenced(target)
      const [now, isClaimed] = await readLease(target)
      const holds = isClaimed && (generation === null || now?.generation === generation)
      if (!now || now.isOver || !holds || isRevoked) throw fenced(target)
      return now
    },

    /** Keeps a refusal until the next result. */
    note(refusal: Refusal): void {
      if (refusals.length < mostWaiting) refusals.push(refusal)
    },
    /** Keeps a notice of a call that was not refused. */
    notify(notice: Notice): void {
      if (notices.length < mostWaiting) notices.push(notice)
    },
    takeRefusals: (): Refusal[] => refusals.splice(0),
    takeNotices: (): Notice[] => notices.splice(0),

    /** After this process has claimed the session anew. */
    renew(next: number): void {
      generation = next
    },
    /** Refuses every later call, and ends those that are under way. */
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
