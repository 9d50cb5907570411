/** The owner of a sandbox's gate: decides by the session's rules and forwards with its credentials. */
import type { Duplex } from 'node:stream'
import type { GateOwner, GateTarget } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { Dial } from '../../../ground/core/security/dial.ts'
import { RefusedAddressError } from '../../../ground/core/security/dial.ts'
import { isCovered } from '../policy/credential.ts'
import type { OutboundCall, Forward } from '../inject/forward.ts'
import type { Records } from '../inject/records.ts'
import { isHostOfRepository } from '../policy/repository.ts'
import type { OutboundContext } from '../inject/context.ts'

export type EgressProfile = 'required' | 'best_effort' | 'disabled'

export type OwnerDeps = {
  forward: Forward
  records: Records
  profile: EgressProfile
  /** Guarded. Resolves with a connected socket. */
  dial: Dial<'tenant', Duplex>
}

/** HTTP status of a refusal in the log; 403 for other reasons. */
const statusOf: Partial<Record<string, number>> = { mismatch: 421, vault: 503 }

export function gateOwner(
  context: OutboundContext,
  { forward, records, profile, dial }: OwnerDeps,
): GateOwner {
  const call = (host: string): OutboundCall => ({
    caller: 'rpc-outbound',
    server: host,
    namer: 'tenant',
    credentials: profile === 'disabled' ? 'none' : 'host',
  })
  const about = ({ host }: GateTarget) => ({
    tenant: context.tenant,
    session: context.session,
    caller: 'rpc-outbound' as const,
    server: host,
    host,
    method: 'CONNECT',
  })

  return {
    async judge(target) {
      const objection = context.rules.outbound(target)
      if (objection) return { kind: 'refuse', ...objection }
      const { credentials, repositories } = await context.readCredentials(target)
      const isKnown =
        isCovered(credentials, target.host) || isHostOfRepository(repositories, target.host)
      const isRead = profile !== 'disabled' && isKnown
      return { kind: isRead ? 'read' : 'tunnel' }
    },
    forward: (request) => forward.forward(request, context, call(request.url.hostname)),
    upgrade: (request) => forward.upgrade(request, context, call(request.url.hostname)),
    async dial(target) {
      try {
        return await dial(target)
      } catch (error) {
        if (!(error instanceof RefusedAddressError)) throw error
        throw new RequestRefused({ ...target, reason: 'private_address', message: error.message })
      }
    },
    refused(refusal) {
      context.note(refusal)
      if (records.has(refusal)) return
      const status = statusOf[refusal.reason] ?? 403
      records.ended(about(refusal), { status, refreshed: false, ms: 0 }, refusal)
    },
    tunnelled({ ms, ...target }) {
      records.tunnelled(about(target), { status: 200, refreshed: false, ms })
    },
  }
}
