/** Room for sandboxes, of which tenants have a share; one that rests gives way to one that is needed. */
import type { Share } from '../../ground/core/share.ts'

export type Resting = { tenant: string; session: string; usedAt: number }

export type SandboxPlaces = {
  /** Resolves with what gives the place back. Rejects with the signal's reason. */
  take(tenant: string, signal: AbortSignal): Promise<() => void>
  /** To be told when a sandbox comes to rest: another may wait for its place, of its tenant or of one that holds no more. */
  rests(resting: Pick<Resting, 'tenant' | 'session'>): void
}

type SandboxPlacesDeps = {
  share: Share
  /** Sandboxes that no turn uses. */
  resting: () => Resting[]
  /** Ends a sandbox, whose place is given back with that. */
  stop: (session: string) => void
}

export function sandboxPlaces({ share, resting, stop }: SandboxPlacesDeps): SandboxPlaces {
  /** The one that has rested longest, of a tenant that holds as many as this one or more. */
  function makeRoom(tenant: string): void {
    const mine = share.held(tenant)
    const [longest] = resting()
      .filter((each) => share.held(each.tenant) >= mine)
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
