/**
 * The order of work that holds the event loop for tens of milliseconds: large pages, bodies and writes. Waiting tenants
 * are served in turn. After each piece of work the loop serves other events for twice as long as the piece took.
 */
export type EventLoop = {
  wait: (tenant: string, piece?: PieceOfWork) => Promise<void>
  /** Adds milliseconds that the current piece held the loop in a later round, so that its break is longer. */
  addHeldMs: (ms: number) => void
}

/** A `read` ends in its own round of the loop. SQLite commits a `write` two rounds later. */
export type PieceOfWork = 'read' | 'write'

/** `shortPieceMs`: the longest piece that needs no break after it. */
type LoopBreaks = { shortPieceMs: number }

/**
 * `nextRound` calls back in the next round of the event loop. `afterPiece` calls back after all promises that are
 * settled already. `after` calls back after a time in milliseconds.
 */
export type LoopTime = {
  nextRound: (call: () => void) => void
  afterPiece: (call: () => void) => void
  after: (ms: number, call: () => void) => void
  now: () => number
}

const usualLoop: LoopTime & LoopBreaks = {
  shortPieceMs: 8,
  nextRound: setImmediate,
  // Node runs ticks after all promises that are settled.
  afterPiece: (call) => queueMicrotask(() => process.nextTick(call)),
  after: (ms, call) => void setTimeout(call, ms),
  now: () => performance.now(),
}

const roundsOf: Record<PieceOfWork, number> = { read: 1, write: 3 }
type WaitingPiece = { begin: () => void; piece: PieceOfWork }

/** Milliseconds. */
const longestBreak = 1_000
/** Length of a break, in lengths of the piece before it: large work has at most a third of the loop. */
const breakFactor = 2

export function createLoop(differing: Partial<LoopTime & LoopBreaks> = {}): EventLoop {
  const { nextRound, afterPiece, after, now, shortPieceMs } = { ...usualLoop, ...differing }
  /** Queues by tenant, in the order in which tenants are served. No queue is empty. */
  const queues = new Map<string, WaitingPiece[]>()
  let isServing = false
  /** Milliseconds for which the current piece has held the loop. */
  let heldMs = 0

  function serveNext(): void {
    const [first] = queues
    if (!first) {
      isServing = false
      return
    }
    const [tenant, [next, ...others]] = first
    queues.delete(tenant)
    if (others.length > 0) queues.set(tenant, others)
    const began = now()
    heldMs = 0
    next?.begin()
    afterPiece(() => (heldMs += now() - began))
    endPiece(roundsOf[next?.piece ?? 'read'])
  }

  function endPiece(rounds: number): void {
    if (rounds > 0) return nextRound(() => endPiece(rounds - 1))
    if (heldMs < shortPieceMs) serveNext()
    else after(Math.min(breakFactor * heldMs, longestBreak), serveNext)
  }

  return {
    /** Resolves when the caller may begin. Its work up to its next await is one piece. */
    wait(tenant, piece = 'read') {
      const { promise, resolve } = Promise.withResolvers<void>()
      const queue = queues.get(tenant)
      const waiting = { begin: resolve, piece }
      if (queue) queue.push(waiting)
      else queues.set(tenant, [waiting])
      if (!isServing) {
        isServing = true
        nextRound(serveNext)
      }
      return promise
    },
    addHeldMs(ms) {
      heldMs += ms
    },
  }
}

/** The order of all heavy work of the process. */
export const eventLoop = createLoop()

/** Work on more bytes than these waits for its turn. */
export const heavyBytes = 256 * 1024
