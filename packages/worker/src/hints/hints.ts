/**
 * Hints make a worker look for work at once. A hint gives no right to work, and a worker without hints looks at its
 * usual interval.
 */
import { setTimeout as delay } from 'node:timers/promises'

export type Hints = {
  /** Hints that were not handled yet, the oldest first. */
  open: () => readonly string[]
  settle: (ids: readonly string[]) => Promise<void>
  /** Waits at most `ms`, or until a hint comes. A hint since the last wait ends the wait at once. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export const noHints: Hints = {
  open: () => [],
  settle: async () => {},
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

export function wakeSignal(): { wake: () => void; wait: Hints['wait'] } {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    async wait(ms, signal) {
      const either = AbortSignal.any([signal, woken.signal])
      await delay(ms, undefined, { signal: either }).catch(() => {})
      if (woken.signal.aborted) woken = new AbortController()
    },
  }
}
