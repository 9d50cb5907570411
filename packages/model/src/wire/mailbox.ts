/**
 * A queue with many writers and one reader. After `last` only another `last` is accepted, which replaces all waiting
 * items.
 */
export function mailbox<T>() {
  let items: T[] = []
  let at = 0
  let wake: (() => void) | undefined
  let closed = false
  return {
    put(item: T): void {
      if (closed) return
      items.push(item)
      wake?.()
    },
    last(item: T, options: { instead?: boolean } = {}): void {
      if (options.instead === true) {
        if (closed && at === items.length) return
        items = [item]
        at = 0
      } else if (closed) return
      else items.push(item)
      closed = true
      wake?.()
    },
    /** Waits for the next item. Undefined after the last. */
    async take(): Promise<T | undefined> {
      if (at === items.length) {
        if (closed) return undefined
        items = []
        at = 0
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
        wake = undefined
      }
      const item = items[at]
      at += 1
      return item
    },
  }
}
