/** For tests: a clock that the test moves. */
export function movedClock() {
  let now = 1_000
  let sleepers: { at: number; wake: () => void }[] = []
  return {
    now: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((wake) => {
        if (signal.aborted) return wake()
        sleepers.push({ at: now + ms, wake })
        signal.addEventListener('abort', () => wake(), { once: true })
      }),
    sleeping: () => sleepers.length,
    async pass(ms: number) {
      now += ms
      const due = sleepers.filter(({ at }) => at <= now)
      sleepers = sleepers.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
      await new Promise(setImmediate)
    },
  }
}
