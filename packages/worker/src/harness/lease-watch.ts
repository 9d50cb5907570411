/**
 * Ends a harness process whose supervisor is silent for the length of a lease: a supervisor that hangs loses its lease,
 * and another worker gets the session.
 */
export type LeaseWatch = {
  /** The lease holds for `forMs` from now on. */
  extend(forMs: number): void
}

/** `later` calls back once, after this number of milliseconds. */
export function leaseWatch(
  lapsed: () => void,
  {
    now = performance.now.bind(performance),
    later = (ms: number, act: () => void) => void setTimeout(act, ms).unref(),
  }: { now?: () => number; later?: (ms: number, act: () => void) => void } = {},
): LeaseWatch {
  const never = Infinity
  let [until, looksAt] = [never, never]
  function lookIn(ms: number): void {
    looksAt = now() + ms
    later(ms, look)
  }
  function look(): void {
    if (until === never) return
    const leftMs = until - now()
    if (leftMs > 0) return lookIn(leftMs)
    until = never
    lapsed()
  }
  return {
    extend(forMs) {
      // A late message does not revive the lease: it may have waited unread while this process hung.
      if (now() >= until) return
      until = now() + forMs
      if (until < looksAt) lookIn(forMs)
    },
  }
}
