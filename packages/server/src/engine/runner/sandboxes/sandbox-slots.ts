/**
 * Slots for running sandboxes, shared among tenants. An idle sandbox is stopped when another sandbox needs its slot.
 */
import type { Share } from '../../../ground/core/fairness/share.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

export type RestingSandbox = { tenant: string; session: string; usedAt: number }

export type SandboxSlots = {
  /** Resolves with the function that gives the slot back. Rejects with the signal's reason. */
  take(tenant: string, signal: AbortSignal): Promise<() => void>
  /**
   * Call when a sandbox becomes idle. Stops the sandbox when its tenant, or a tenant that holds no more slots, waits
   * for a slot.
   */
  rests(resting: SessionRef): void
}

type SandboxSlotsDeps = {
  share: Share
  /** Sandboxes that no turn uses. */
  resting: () => RestingSandbox[]
  /** Ends a sandbox, which gives its slot back. */
  stop: (session: string) => void
}

export function sandboxSlots({ share, resting, stop }: SandboxSlotsDeps): SandboxSlots {
  /** Stops the sandbox that has been idle longest, of a tenant that holds at least as many slots as `tenant`. */
  function makeRoom(tenant: string): void {
    const mine = share.held(tenant)
    const [longest] = resting()
      .filter(
        (each) =>
          share.held(each.tenant) >= mine && (each.tenant === tenant || !share.isAtMost(tenant)),
      )
      .toSorted((a, b) => a.usedAt - b.usedAt)
    if (longest) stop(longest.session)
  }

  return {
    take(tenant, signal) {
      if (share.room(tenant) === 0) makeRoom(tenant)
      return share.wait(tenant, signal)
    },
    rests({ tenant, session }) {
      if (share.isAwaitedOf(tenant)) stop(session)
    },
  }
}
