/**
 * Sandboxes of workers: each of their connections comes here as it is, under the token of a claim, to the gate that serves
 * the service's own sandboxes. Such a gate lasts as long as connections of its claim do.
 */
import type { Socket } from 'node:net'
import type { TakingGate } from '@steward/gate/gate.ts'
import type { Bus } from '../../../ground/bus/bus.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../../ground/core/share.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../../ground/database/database.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import type { ClaimPrincipal } from '../../../ground/http/principal.ts'
import { stands } from '../../../sessions/work/claim.ts'
import { lossOf } from '../../../sessions/work/topics.ts'
import type { OutboundLease } from '../inject/context.ts'
import type { SessionEgress } from './session.ts'

/** Of one claim, at the same time, in this process. */
const mostTunnels = 256
/** A gate without any is kept for so long, with its connections to upstreams. */
const lingerMs = 60_000
/** How often open tunnels are held to their claim besides: one that ends by its lease alone is told of by nobody. */
const lookEveryMs = 5_000

type Hall = {
  gate: TakingGate
  egress: SessionEgress
  claim: ClaimPrincipal
  tunnels: number
  usedAt: number
  end: AbortController
}

export type RemoteDeps = {
  databases: Databases
  clock: Clock
  bus: Bus
  log: Log
  bind: (lease: OutboundLease) => SessionEgress
  /** The bundle that sandboxes trust. */
  certificates: () => string
  /** Of the connections that sandboxes hold to their gates, which take their places. */
  connections: Share
}

export type RemoteSandboxes = ReturnType<typeof remoteSandboxes>

export function remoteSandboxes(deps: RemoteDeps) {
  const { databases, clock, bus, log, certificates } = deps
  const halls = new Map<string, Promise<Hall>>()
  async function recordOf({ tenant, environmentId }: ClaimPrincipal) {
    const { read } = await databases.open(tenant)
    return environmentStore(read).record(tenant, environmentId)
  }

  async function open(key: string, claim: ClaimPrincipal): Promise<Hall> {
    const { tenant, sessionId: session } = claim
    const environment = await recordOf(claim)
    const egress = deps.bind({ tenant, session, environment, generation: null, claim })
    const hall: Hall = {
      ...{ egress, gate: egress.takingGate(), claim },
      ...{ tunnels: 0, usedAt: clock.now(), end: new AbortController() },
    }
    // Revoked first: what is under way ends, and nothing of it gets out any more.
    const ended = () => {
      halls.delete(key)
      egress.revoke()
    }
    lossOf(bus, claim, hall.end.signal).addEventListener('abort', ended, { once: true })
    return hall
  }

  function hallOf(claim: ClaimPrincipal): Promise<Hall> {
    const key = `${claim.workId}/${claim.generation}`
    const known = halls.get(key)
    if (known) return known
    const opened = open(key, claim)
    halls.set(key, opened)
    opened.catch(() => halls.delete(key))
    return opened
  }

  async function look(opened: Promise<Hall>): Promise<void> {
    const hall = await opened
    const isUnused = hall.tunnels === 0 && clock.now() - hall.usedAt >= lingerMs
    if (isUnused || !(await stands(deps, hall.claim))) hall.end.abort()
  }

  const looks = setInterval(() => {
    for (const hall of halls.values())
      look(hall).catch((error: unknown) => log.warn('a claim could not be looked at', { error }))
  }, lookEveryMs).unref()

  return {
    /** Serves a connection. Throws for one too many, before anything was said on it. */
    async tunnel(claim: ClaimPrincipal): Promise<(connection: Socket) => void> {
      const hall = await hallOf(claim)
      if (hall.tunnels >= mostTunnels)
        throw new PlatformError('rate_limited', `a claim has ${mostTunnels} connections at once`)
      if (deps.connections.room(claim.tenant) === 0)
        throw new PlatformError(
          'rate_limited',
          'the sandboxes of this workspace hold as many connections as there is room for',
        )
      return (connection) => {
        hall.tunnels++
        connection.once('close', () => {
          hall.tunnels--
          hall.usedAt = clock.now()
        })
        const isOver = hall.end.signal.aborted || hall.tunnels > mostTunnels
        if (isOver || connection.destroyed) connection.destroy()
        else hall.gate.take(connection)
      }
    },

    /** What a sandbox of the claim's session is told: whom to trust on its way out, and its variables. No secret. */
    async told(claim: ClaimPrincipal): Promise<{
      certificates: string
      variables: Record<string, string>
    }> {
      const { egress } = await hallOf(claim)
      const { env } = await recordOf(claim)
      return {
        certificates: certificates(),
        variables: { ...env, ...(await egress.placeholders()) },
      }
    },

    async close(): Promise<void> {
      clearInterval(looks)
      const all = await Promise.allSettled(halls.values())
      for (const each of all) if (each.status === 'fulfilled') each.value.end.abort()
    },
  }
}
