/**
 * The order of work that holds the event loop for tens of milliseconds: large pages, bodies and writes. The tenants that
 * wait are served in turn. Between two pieces the loop serves everything else, for twice as long as the last piece took.
 */
export type EventLoop = {
  wait: (tenant: string, piece?: PieceOfWork) => Promise<void>
  /** Adds what a piece held the loop for in a later round: the break behind the piece is as much longer. In milliseconds. */
  addHeldMs: (ms: number) => void
}

/** A piece of reading is over in its round of the loop. What a piece writes to SQLite is committed two rounds later. */
export type PieceOfWork = 'read' | 'write'

/**
 * `nextRound` calls back in the next round of the event loop, `afterPiece` when all is done that waits for no other round, `after`
 * when a time in milliseconds is over.
 */
export type LoopTime = {
  nextRound: (call: () => void) => void
  afterPiece: (call: () => void) => void
  after: (ms: number, call: () => void) => void
  now: () => number
}

const loopTime: LoopTime = {
  nextRound: setImmediate,
  // Ticks come behind all promises that are settled.
  afterPiece: (call) => queueMicrotask(() => process.nextTick(call)),
  after: (ms, call) => void setTimeout(call, ms),
  now: () => performance.now(),
}

const roundsOf: Record<PieceOfWork, number> = { read: 1, write: 3 }
type WaitingPiece = { begin: () => void; piece: PieceOfWork }

/** A piece that took less needs no break behind it, and no break is longer than the second. In milliseconds. */
const [shortPiece, longestBreak] = [8, 1_000]
/** A break is so many times as long as the piece before it: large work has a third of the loop at most. */
const breakFactor = 2

export function createLoop({ nextRound, afterPiece, after, now }: LoopTime = loopTime): EventLoop {
  /** In the order in which the tenants are served; none is empty. */
  const queues = new Map<string, WaitingPiece[]>()
  let isServing = false
  /** What the present piece has held the loop for. */
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
    if (heldMs < shortPiece) serveNext()
    else after(Math.min(breakFactor * heldMs, longestBreak), serveNext)
  }

  return {
    /** Resolves when the caller may begin. What it does before it awaits anything else is one piece. */
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

/** The process has one loop. */
export const eventLoop = createLoop()

/** Bytes from which work waits for its place. */
export const heavyBytes = 256 * 1024
