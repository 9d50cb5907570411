/** Ends streams and forwarded requests of a worker together with its claim. */
import type { Readable } from 'node:stream'
import { unauthorized } from '../../ground/core/errors.ts'
import type { ClaimPrincipal, Principal } from '../../ground/http/principal.ts'
import type { RawRequest } from '../../ground/http/route.ts'
import type { Ground } from '../../ground/ground.ts'
import { isCurrentClaim } from './claim.ts'
import { claimLossSignal } from './topics.ts'

/** How often a claim is compared with its item. Needed when the lease expired, or when the notification was lost. */
const lookMs = 10_000

/**
 * Returns a signal that aborts when the claim is lost, at once if a notification comes. Listens until then, or until
 * `until` aborts.
 */
export const claimEnds =
  (deps: Ground) =>
  (claim: ClaimPrincipal, until: AbortSignal): AbortSignal => {
    const { bus, clock } = deps
    const over = new AbortController()
    const either = claimLossSignal(bus, claim, AbortSignal.any([over.signal, until]))
    async function watch(): Promise<void> {
      do await clock.sleep(lookMs, either)
      while (!either.aborted && (await isCurrentClaim(deps, claim)))
      over.abort()
    }
    watch().catch((error: unknown) => over.abort(error))
    return either
  }

/** Runs `ask` for a caller. A worker's request and its answer are aborted when its claim ends. */
export type AskUnderClaim = <Answer extends { body: Readable }>(
  principal: Principal,
  raw: RawRequest,
  ask: (raw: RawRequest) => Promise<Answer>,
) => Promise<Answer>

export function underClaims(deps: Ground): AskUnderClaim {
  const ends = claimEnds(deps)
  return async (principal, raw, ask) => {
    if (principal.kind !== 'claim') return ask(raw)
    const done = new AbortController()
    const signal = ends(principal, AbortSignal.any([raw.signal, done.signal]))
    try {
      const answer = await ask({ ...raw, signal })
      if (answer.body.closed) done.abort()
      else answer.body.once('close', () => done.abort())
      return answer
    } catch (error) {
      const isLost = signal.aborted && !raw.signal.aborted
      done.abort()
      throw isLost ? unauthorized('the claim has ended, or another has it now') : error
    }
  }
}
