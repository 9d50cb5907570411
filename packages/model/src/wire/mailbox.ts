/** Many may put in, one takes out; once shut nothing more goes in. */
export function mailbox<T>() {
  let items: T[] = []
  let wake: (() => void) | undefined
  let shut = false
  return {
    put(item: T): void {
      if (shut) return
      items.push(item)
      wake?.()
    },
    shut(): void {
      shut = true
      wake?.()
    },
    /** Everything put in since the last time; waits for the first; empty when shut. */
    async take(): Promise<T[]> {
      if (items.length === 0 && !shut) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
        wake = undefined
      }
      const taken = items
      items = []
      return taken
    },
  }
}
