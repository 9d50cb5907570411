/** What tells a worker to look at once. It owns nothing: whoever hears nothing looks as often as it is told to. */
import { setTimeout as delay } from 'node:timers/promises'

export type Hints = {
  /** That nothing was done about yet, oldest first. */
  open: () => readonly string[]
  settle: (ids: readonly string[]) => Promise<void>
  /** At most so long, or until one comes; one that has come since the last wait ends it at once. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export const noHints: Hints = {
  open: () => [],
  settle: async () => {},
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

export function bell(): { ring: () => void; wait: Hints['wait'] } {
  let rung = new AbortController()
  return {
    ring: () => rung.abort(),
    async wait(ms, signal) {
      const either = AbortSignal.any([signal, rung.signal])
      await delay(ms, undefined, { signal: either }).catch(() => {})
      if (rung.signal.aborted) rung = new AbortController()
    },
  }
}
