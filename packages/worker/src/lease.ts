/** The outer worker's heartbeat of one claim, until the service or its silence ends it. contract.md 4.4 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Claim } from './service.ts'
import { isRefusal } from './service.ts'

/** `stopping`: it is still ours, and to be ended. `lost`: nothing of it may be touched any more. */
export type LeaseEnd = { end: 'stopping' | 'lost' | 'closed'; why: string }

export type Lease = {
  /** Never rejects. */
  ended: Promise<LeaseEnd>
  /** No beat follows. */
  close(): void
}

const soonMs = 1_000
const longestPauseMs = 30_000

export function keepLease(
  claim: Pick<Claim, 'beat'>,
  {
    ttlSeconds,
    now = performance.now.bind(performance),
  }: { ttlSeconds: number; now?: () => number },
): Lease {
  const closed = new AbortController()
  return { ended: beatOn(claim, ttlSeconds, now, closed.signal), close: () => closed.abort() }
}

async function beatOn(
  claim: Pick<Claim, 'beat'>,
  ttlSeconds: number,
  now: () => number,
  closed: AbortSignal,
): Promise<LeaseEnd> {
  let last: string | undefined
  let ttlMs = ttlSeconds * 1000
  let heldSince = now()
  while (!closed.aborted) {
    const pauseMs = Math.floor(Math.min(ttlMs / 3, longestPauseMs))
    const begun = now()
    const signal = AbortSignal.any([closed, AbortSignal.timeout(pauseMs)])
    let waitMs = pauseMs
    try {
      const beat = await claim.beat(last, ttlSeconds, signal)
      last = beat.last
      if (!beat.extended || beat.state === 'stopping' || beat.state === 'stopped')
        return { end: 'stopping', why: `the service says ${beat.state}` }
      ttlMs = beat.ttlMs
      heldSince = begun
    } catch (error) {
      if (closed.aborted) break
      if (isRefusal(error))
        return { end: 'lost', why: `the heartbeat was refused: ${error.status}` }
      if (now() - heldSince >= ttlMs)
        return { end: 'lost', why: `no heartbeat for ${ttlMs} ms: ${(error as Error).message}` }
      waitMs = Math.min(soonMs, ttlMs - (now() - heldSince))
    }
    await delay(waitMs, undefined, { signal: closed }).catch(() => {})
  }
  return { end: 'closed', why: 'closed' }
}
