/** Ends a harness whose supervisor says nothing for a lease: one that hangs keeps none, and another has the session then. */
export type LeaseWatch = {
  /** The lease holds for so long from now on. */
  extend(forMs: number): void
}

/** `later` calls back once, after so many milliseconds. */
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
      // What was late already stays so: the news may have lain unread while this process hung.
      if (now() >= until) return
      until = now() + forMs
      if (until < looksAt) lookIn(forMs)
    },
  }
}
