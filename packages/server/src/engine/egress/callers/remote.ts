/**
 * The egress of sandboxes that workers run. Each connection of such a sandbox arrives under a claim token and is given
 * to a gate like those of the service's own sandboxes. The gate lives while connections of its claim do.
 */
import type { Socket } from 'node:net'
import type { SocketlessGate } from '@steward/gate/gate.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Share } from '../../../ground/core/fairness/share.ts'
import { createPool } from '@steward/base/pool.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import type { ClaimPrincipal } from '../../../ground/http/principal.ts'
import type { Ground } from '../../../ground/ground.ts'
import { isCurrentClaim } from '../../../sessions/work/claim.ts'
import { claimLossSignal } from '../../../sessions/work/topics.ts'
import type { OutboundLease } from '../inject/context.ts'
import type { SessionEgress } from './session.ts'

/** Connections of one claim at the same time in this process. */
const mostTunnels = 256
/** A gate without connections is kept for this time, with its connections to upstreams. */
const lingerMs = 60_000
/** Interval in which open tunnels are compared with their claim. A claim whose lease expires causes no notification. */
const lookEveryMs = 5_000

/** The gate for the connections of one claim. */
type ClaimGate = {
  claim: ClaimPrincipal
  opened: Promise<{ gate: SocketlessGate; egress: SessionEgress }>
  end: AbortController
}

export type RemoteSandboxes = ReturnType<typeof remoteSandboxes>

export function remoteSandboxes(
  deps: Ground & {
    bind: (lease: OutboundLease) => SessionEgress
    /** PEM bundle that sandboxes trust. */
    certificates: () => string
    /** The tenants' shares of the connections from sandboxes to gates. */
    connections: Share
  },
) {
  const { databases, clock, bus, log, certificates } = deps
  const gates = createPool<ClaimGate>({
    clock,
    idleMs: lingerMs,
    everyMs: lookEveryMs,
    close: ({ end }) => end.abort(),
    mayStay: ({ claim }) => isCurrentClaim(deps, claim),
    fail: (error) => log.warn('a claim could not be checked', { error }),
  })
  async function recordOf({ tenant, environmentId }: ClaimPrincipal) {
    const { read } = await databases.open(tenant)
    return environmentStore(read).record(tenant, environmentId)
  }

  async function open(claim: ClaimPrincipal): ClaimGate['opened'] {
    const { tenant, sessionId: session } = claim
    const environment = await recordOf(claim)
    const egress = deps.bind({ tenant, session, environment, generation: null, claim })
    return { egress, gate: egress.socketlessGate() }
  }

  const gateOf = (key: string, claim: ClaimPrincipal): ClaimGate =>
    gates.hold(key, () => {
      const made = { claim, opened: open(claim), end: new AbortController() }
      // Revoke first: running calls end, and no later call gets out.
      const ended = () => {
        gates.remove(key, made)
        made.opened.then(
          ({ egress }) => egress.revoke(),
          () => {},
        )
      }
      claimLossSignal(bus, claim, made.end.signal).addEventListener('abort', ended, { once: true })
      made.opened.catch(() => made.end.abort())
      return made
    })

  return {
    /**
     * Returns the function that serves a connection. Throws rate_limited, before any byte is answered, when there are
     * too many connections.
     */
    async tunnel(claim: ClaimPrincipal): Promise<(connection: Socket) => void> {
      const key = keyOf(claim)
      const made = gateOf(key, claim)
      const { gate } = await made.opened
      if (gates.users(key) >= mostTunnels)
        throw new PlatformError('rate_limited', `a claim has ${mostTunnels} connections at once`)
      if (deps.connections.room(claim.tenant) === 0)
        throw new PlatformError(
          'rate_limited',
          'the sandboxes of this workspace hold as many connections as there is room for',
        )
      return (connection) => {
        const isOver = gates.get(key) !== made || gates.users(key) >= mostTunnels
        if (isOver || connection.destroyed) return connection.destroy()
        connection.once('close', gates.use(key, () => made).leave)
        gate.take(connection)
      }
    },

    /**
     * The certificates that a sandbox of the claim's session trusts, and its environment variables. Holds no secret.
     */
    async authorities(claim: ClaimPrincipal): Promise<{
      certificates: string
      variables: Record<string, string>
    }> {
      const { egress } = await gateOf(keyOf(claim), claim).opened
      const { env } = await recordOf(claim)
      return {
        certificates: certificates(),
        variables: { ...env, ...(await egress.placeholders()) },
      }
    },

    close: gates.close,
  }
}

const keyOf = ({ workId, generation }: ClaimPrincipal): string => `${workId}/${generation}`
