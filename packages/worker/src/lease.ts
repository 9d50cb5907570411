/**
 * Sends the outer worker's heartbeats for one claim, until the service ends the claim or does not answer.
 * [work/heartbeat]
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ClaimClient } from './service.ts'
import { isRefusal } from './service.ts'

/** `stopping`: the claim is current, and its session must end. `lost`: nothing may be done under the claim any more. */
export type ClaimLeaseEnd = { end: 'stopping' | 'lost' | 'closed'; why: string }

export type ClaimLease = {
  /** Never rejects. */
  ended: Promise<ClaimLeaseEnd>
  /** Milliseconds until the lease expires without another heartbeat. */
  leftMs(): number
  /** Called after each accepted heartbeat with the time that the lease holds from then on, in ms. */
  follow(extended: (forMs: number) => void): void
  /** Sends no more heartbeats. */
  close(): void
}

const soonMs = 1_000
const longestPauseMs = 30_000

type ClaimLeaseOptions = {
  ttlSeconds: number
  now?: () => number
}

export function keepLease(
  claim: Pick<ClaimClient, 'beat'>,
  { ttlSeconds, now = performance.now.bind(performance) }: ClaimLeaseOptions,
): ClaimLease {
  const closed = new AbortController()
  const state = { ttlMs: ttlSeconds * 1000, heldSince: now(), extended: (_forMs: number) => {} }
  const leftMs = () => Math.max(0, state.ttlMs - (now() - state.heldSince))
  return {
    ended: beatOn(),
    leftMs,
    close: () => closed.abort(),
    follow: (extended) => void Object.assign(state, { extended }),
  }

  async function beatOn(): Promise<ClaimLeaseEnd> {
    const { signal: isClosed } = closed
    let last: string | undefined
    while (!isClosed.aborted) {
      const pauseMs = Math.floor(Math.min(state.ttlMs / 3, longestPauseMs))
      const begun = now()
      const signal = AbortSignal.any([isClosed, AbortSignal.timeout(pauseMs)])
      let waitMs = pauseMs
      try {
        const beat = await claim.beat(last, ttlSeconds, signal)
        last = beat.last
        if (!beat.extended || beat.state === 'stopping' || beat.state === 'stopped')
          return { end: 'stopping', why: `the service says ${beat.state}` }
        Object.assign(state, { ttlMs: beat.ttlMs, heldSince: begun })
        state.extended(leftMs())
      } catch (error) {
        if (isClosed.aborted) break
        if (isRefusal(error))
          return { end: 'lost', why: `the heartbeat was refused: ${error.status}` }
        if (leftMs() === 0)
          return {
            end: 'lost',
            why: `no heartbeat for ${state.ttlMs} ms: ${(error as Error).message}`,
          }
        waitMs = Math.min(soonMs, leftMs())
      }
      await delay(waitMs, undefined, { signal: isClosed }).catch(() => {})
    }
    return { end: 'closed', why: 'closed' }
  }
}
