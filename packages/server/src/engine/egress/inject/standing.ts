/** What each call of a session stands on: its lease, its credentials, its rules, its connections. */
import type { Refusal, Target } from '@steward/gate/outbound.ts'
import { Refused } from '@steward/gate/outbound.ts'
import type { Notice } from '@steward/harness/turn.ts'
import type { Binding } from '../binding.ts'
import type { OutboundContext } from './forward.ts'
import type { Rules } from '../policy/rules.ts'
import type { SessionNow } from '../policy/store.ts'
import type { Upstream } from './upstream.ts'

/** Kept until they are asked for: refusals, and notices. */
const mostNoted = 100

export interface SessionOutbound extends OutboundContext {
  /** The same, for calls to an endpoint that the operator named. */
  readonly operated: OutboundContext
  readonly rules: Rules
  /** Refusals that are to be told of with the next result. */
  readonly refusals: Refusal[]
  note(refusal: Refusal): void
  /** The same of what was not refused. */
  readonly notices: Notice[]
  renew(generation: number): void
  /** Every later call is refused, and those under way end. */
  revoke(): void
  readonly isRevoked: boolean
}

export type BoundDeps = {
  rules: Rules
  upstream: Upstream
  operated: Upstream
  /** One query. Undefined when there is no such session. */
  read: (tenant: string, session: string) => Promise<SessionNow | undefined>
  /** Whether a worker's claim is still its own; left out where there is none. */
  stands?: (() => Promise<boolean>) | undefined
  /** Called once, when it is revoked. */
  ended: () => void
}

export function bound(
  { tenant, session, generation: first }: Binding,
  { rules, upstream, operated, read, stands, ended }: BoundDeps,
): SessionOutbound {
  let generation = first
  let isRevoked = false
  const refusals: Refusal[] = []
  const notices: Notice[] = []
  const refused = (target: Target, reason: 'fenced' | 'vault', message: string) =>
    new Refused({ host: target.host, port: target.port, reason, message })
  const fenced = (target: Target) =>
    refused(
      target,
      'fenced',
      generation === null && !stands
        ? 'the session is archived or deleted'
        : 'the session no longer holds the sandbox that this call comes from',
    )

  const standing: OutboundContext = {
    tenant,
    session,
    upstream,
    notify(notice) {
      if (notices.length < mostNoted) notices.push(notice)
    },
    judge: (url, caller) => rules.judge(url, caller),
    async look(target) {
      if (isRevoked) throw fenced(target)
      let now: SessionNow | undefined
      let isClaimed: boolean
      try {
        ;[now, isClaimed] = await Promise.all([read(tenant, session), stands?.() ?? true])
      } catch (cause) {
        const message = 'the credentials of the session could not be read'
        throw Object.assign(refused(target, 'vault', message), { cause })
      }
      const holds = isClaimed && (generation === null || now?.generation === generation)
      if (!now || now.isOver || !holds || isRevoked) throw fenced(target)
      return now
    },
  }
  return {
    ...standing,
    operated: { ...standing, upstream: operated },
    rules,
    ...{ refusals, notices },
    note(refusal) {
      if (refusals.length < mostNoted) refusals.push(refusal)
    },
    renew(next) {
      generation = next
    },
    revoke() {
      if (isRevoked) return
      isRevoked = true
      ended()
      void upstream.close()
      void operated.close()
    },
    get isRevoked() {
      return isRevoked
    },
  }
}
