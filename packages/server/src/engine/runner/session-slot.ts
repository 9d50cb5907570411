/** The slot of a session among the sessions that this process runs at once. */
import type { Clock } from '@steward/base/time.ts'
import type { Share } from '../../ground/core/fairness/share.ts'

export type RunnerShares = {
  /** Shares of the sessions that run. */
  slots: Share
  /** Shares of the turns that give their slot away while they wait to repeat a model request. */
  pauses: Share
}

export type SessionSlot = {
  leave: () => void
  /**
   * Resolves with the slot held, at once unless a pause ended without a slot. Resolves without a slot when the signal
   * aborts.
   */
  hold: (signal: AbortSignal) => Promise<void>
  /** Gives the slot away for `ms` and resolves when the slot is held again, or when the signal aborts. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Returns undefined when no slot is free. Calls `left` each time the slot becomes free. */
export function takeSlot(
  { slots, pauses, clock }: RunnerShares & { clock: Clock },
  tenant: string,
  left: () => void,
): SessionSlot | undefined {
  const taken = slots.take(tenant)
  if (!taken) return undefined
  let release: (() => void) | undefined = taken
  /** Threads of one session may ask at once, and get one slot. */
  let holding: Promise<void> | undefined

  function leave(): void {
    release?.()
    release = undefined
    left()
  }

  async function hold(signal: AbortSignal): Promise<void> {
    if (release) return
    holding ??= slots
      .wait(tenant, signal)
      .catch(() => undefined)
      .then((waited) => {
        release = waited
      })
      .finally(() => (holding = undefined))
    await holding
  }

  return {
    leave,
    hold,
    async pause(ms, signal) {
      const endPause = pauses.take(tenant)
      if (!endPause) return clock.sleep(ms, signal)
      leave()
      await clock.sleep(ms, signal)
      // After an abort `hold` resolves without a slot: writing the end of the turn needs none.
      await hold(signal)
      endPause()
    },
  }
}
