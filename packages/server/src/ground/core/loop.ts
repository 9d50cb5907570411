/**
 * The order of work that holds the event loop for tens of milliseconds: large pages, bodies and writes. The tenants that
 * wait are served in turn. Between two pieces the loop serves everything else, for as long as the last piece took.
 */
export type Loop = { wait: (tenant: string) => Promise<void> }

/** `nextRound` calls back in the next round of the event loop, `after` when a time in milliseconds is over. */
export type LoopTime = {
  nextRound: (call: () => void) => void
  after: (ms: number, call: () => void) => void
  now: () => number
}

const loopTime: LoopTime = {
  nextRound: setImmediate,
  after: (ms, call) => void setTimeout(call, ms),
  now: () => performance.now(),
}

/** Rounds of the loop that belong to a piece: what it writes is inserted in the second one and committed in the third. */
const roundsOfPiece = 3
/** A piece that took less needs no break behind it, and no break is longer than the second. In milliseconds. */
const [shortPiece, longestBreak] = [20, 1_000]

export function createLoop({ nextRound, after, now }: LoopTime = loopTime): Loop {
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
    const began = now()
    begin?.()
    endPiece(began, roundsOfPiece)
  }

  function endPiece(began: number, rounds: number): void {
    if (rounds > 0) return nextRound(() => endPiece(began, rounds - 1))
    const took = now() - began
    if (took < shortPiece) serveNext()
    else after(Math.min(took, longestBreak), serveNext)
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
        nextRound(serveNext)
      }
      return promise
    },
  }
}

/** The process has one loop. */
export const eventLoop = createLoop()

/** Bytes from which work waits for its place. */
export const heavyBytes = 256 * 1024
