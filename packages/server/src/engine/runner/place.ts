/** The place of a session among those that this process runs at once. */
import type { Clock } from '@steward/base/time.ts'
import type { Share } from '../../ground/core/share.ts'

export type RunnerShares = {
  /** Of the sessions that run. */
  slots: Share
  /** Of the turns that give their place to others while they wait to ask their model again. */
  pauses: Share
}

export type Place = {
  leave: () => void
  /** Resolves after the time and with a place, or when the signal ends it. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Undefined without room. `left` is called each time the place has become free. */
export function takePlace(
  { slots, pauses, clock }: RunnerShares & { clock: Clock },
  tenant: string,
  left: () => void,
): Place | undefined {
  const taken = slots.take(tenant)
  if (!taken) return undefined
  let release = taken

  function leave(): void {
    release()
    left()
  }

  return {
    leave,
    async pause(ms, signal) {
      const endPause = pauses.take(tenant)
      if (!endPause) return clock.sleep(ms, signal)
      leave()
      await clock.sleep(ms, signal)
      // A turn that was ended meanwhile has only its end to write, and needs no place for that.
      release = await slots.wait(tenant, signal).catch(() => () => {})
      endPause()
    },
  }
}
