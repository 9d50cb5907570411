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
  /** Resolves with a place: at once unless a pause ended without one. Resolves without one when the signal aborts. */
  hold: (signal: AbortSignal) => Promise<void>
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
  let release: (() => void) | undefined = taken

  function leave(): void {
    release?.()
    release = undefined
    left()
  }

  async function hold(signal: AbortSignal): Promise<void> {
    release ??= await slots.wait(tenant, signal).catch(() => undefined)
  }

  return {
    leave,
    hold,
    async pause(ms, signal) {
      const endPause = pauses.take(tenant)
      if (!endPause) return clock.sleep(ms, signal)
      leave()
      await clock.sleep(ms, signal)
      // A turn that was ended meanwhile needs no place to write its end.
      await hold(signal)
      endPause()
    },
  }
}
