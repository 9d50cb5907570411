/**
 * The order of work that holds the event loop for tens of milliseconds: large pages and large bodies. The loop serves
 * everything else between two pieces of such work, and the tenants that wait are served in turn.
 */
export type Loop = { wait: (tenant: string) => Promise<void> }

/** `later` calls back in the next round of the event loop. */
export function createLoop(later: (next: () => void) => void = setImmediate): Loop {
  /** In the order in which the tenants are served; none is empty. */
  const queues = new Map<string, (() => void)[]>()
  let isServing = false

  function serveNext(): void {
    const [first] = queues
    if (!first) {
      isServing = false
      return
    }
    const [tenant, [begin, ...others]] = first
    queues.delete(tenant)
    if (others.length > 0) queues.set(tenant, others)
    begin?.()
    later(serveNext)
  }

  return {
    /** Resolves when the caller may begin. What it does before it awaits anything else is one piece. */
    wait(tenant) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const queue = queues.get(tenant)
      if (queue) queue.push(resolve)
      else queues.set(tenant, [resolve])
      if (!isServing) {
        isServing = true
        later(serveNext)
      }
      return promise
    },
  }
}

/** The process has one loop. */
export const eventLoop = createLoop()

/** Bytes from which work waits for its place. */
export const heavyBytes = 256 * 1024
